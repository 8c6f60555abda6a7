// Tests of seats: properties of fair sharing with random callers, and the limits of the queue.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { networkCaller } from '../../../../server/admission/network.ts';
import { type Seat, Seats, type SeatsOptions } from '../../../../server/admission/seats.ts';
import { rejection } from '../../../support/rejection.ts';

const refusal = (): Error => new Error('refused');
const seatsWith = (options: Partial<SeatsOptions>): Seats =>
  new Seats({ capacity: 4, sharing: 'reserve', refusal, ...options });
const never = { signal: new AbortController().signal };

/** A model of all requests of a random run. */
class Run {
  readonly seats: Seats;
  readonly held = new Map<string, Seat[]>();
  readonly waiting = new Map<string, AbortController[]>();
  readonly refused: string[] = [];

  constructor(seats: Seats) {
    this.seats = seats;
  }

  async step(caller: string, action: 'take' | 'release' | 'abort'): Promise<void> {
    if (action === 'take') this.#take(caller);
    if (action === 'release') this.held.get(caller)?.shift()?.[Symbol.dispose]();
    if (action === 'abort') this.waiting.get(caller)?.shift()?.abort(new Error('gone'));
    // Lets granted and refused requests settle.
    for (let i = 0; i < 5; i++) await Promise.resolve();
  }

  count(caller: string): number {
    return this.held.get(caller)?.length ?? 0;
  }

  async end(): Promise<void> {
    for (const controllers of this.waiting.values()) for (const each of controllers) each.abort(new Error());
    for (let i = 0; i < 5; i++) await Promise.resolve();
    for (const seats of this.held.values()) for (const seat of seats.splice(0)) seat[Symbol.dispose]();
  }

  #take(caller: string): void {
    const controller = new AbortController();
    const seats = listOf(this.held, caller);
    let taken: Seat | Promise<Seat>;
    try {
      taken = this.seats.take(caller, controller);
    } catch {
      this.refused.push(caller);
      return;
    }
    if (!(taken instanceof Promise)) {
      seats.push(taken);
      return;
    }
    const waiting = listOf(this.waiting, caller);
    waiting.push(controller);
    const leave = (): void => {
      const place = waiting.indexOf(controller);
      if (place >= 0) waiting.splice(place, 1);
    };
    taken.then(
      (seat) => {
        leave();
        seats.push(seat);
      },
      () => {
        leave();
        if (!controller.signal.aborted) this.refused.push(caller);
      },
    );
  }
}

function listOf<Item>(map: Map<string, Item[]>, caller: string): Item[] {
  const list = map.get(caller) ?? [];
  map.set(caller, list);
  return list;
}

const CALLERS = ['a', 'b', 'c', 'd', 'e'];
const steps = fc.array(
  fc.tuple(
    fc.constantFrom(...CALLERS),
    fc.constantFrom('take' as const, 'take' as const, 'release' as const, 'abort' as const),
  ),
  { maxLength: 150 },
);

describe('Seats', () => {
  for (const sharing of ['reserve', 'queue'] as const) {
    it(`with ${sharing}: never exceed the capacity, serve the fewest first, and keep nothing at the end`, () =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 8 }), steps, async (capacity, actions) => {
          const seats = seatsWith({ capacity, sharing, waiting: 6 });
          const run = new Run(seats);
          for (const [caller, action] of actions) {
            await run.step(caller, action);
            const held = CALLERS.map((each) => run.count(each));
            const total = held.reduce((sum, each) => sum + each, 0);
            expect(total).to.equal(seats.held).and.to.be.at.most(capacity);
            const free = capacity - total;
            for (const [i, each] of CALLERS.entries()) {
              if ((run.waiting.get(each)?.length ?? 0) === 0) continue;
              // No caller waits while a seat is free for it.
              expect(sharing === 'queue' ? free : Math.max(0, free - (held[i] ?? 0))).to.equal(0);
            }
            expect(seats.waiting).to.be.at.most(6);
          }
          await run.end();
          expect([seats.held, seats.waiting]).to.deep.equal([0, 0]);
        }),
      ));
  }

  it('never refuse a caller while another one holds and waits for two more than he', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), steps, async (capacity, actions) => {
        const run = new Run(seatsWith({ capacity, waiting: 4 }));
        const weight = (caller: string): number => run.count(caller) + (run.waiting.get(caller)?.length ?? 0);
        for (const [caller, action] of actions) {
          const before = new Map(CALLERS.map((each) => [each, weight(each)]));
          const waiting = CALLERS.filter((each) => (run.waiting.get(each)?.length ?? 0) > 0);
          run.refused.splice(0);
          await run.step(caller, action);
          for (const refused of run.refused) {
            const others = waiting.filter((each) => each !== refused);
            const own = (before.get(refused) ?? 0) + (refused === caller ? 0 : -1);
            for (const other of others) expect(before.get(other)).to.be.at.most(own + 1);
          }
        }
        await run.end();
      }),
    ));

  it('with preempt: let one caller use everything, and converge to equal shares', () => {
    const seats = seatsWith({ capacity: 6, sharing: 'preempt', preemption: () => new Error('preempted') });
    const ended: string[] = [];
    const take = (caller: string, name: string): void =>
      void seats.take(caller, never, ({ message }) => ended.push(`${name} ${message}`));
    for (const i of [1, 2, 3, 4, 5, 6]) take('a', `a${i}`);
    expect(() => take('a', 'a7')).to.throw('refused');
    for (const i of [1, 2, 3]) take('b', `b${i}`);
    expect(ended).to.deep.equal(['a6 preempted', 'a5 preempted', 'a4 preempted']);
    expect(() => take('b', 'b4'), 'equal shares').to.throw('refused');
    expect(() => take('a', 'a8'), 'equal shares').to.throw('refused');
    expect([seats.held, seats.preempted, seats.refused]).to.deep.equal([6, 3, 3]);
  });

  describe('with callers who hold one each', () => {
    const holders = (sharing: 'preempt' | 'queue', callers: readonly string[], waiting = 0): string[] => {
      const seats = seatsWith({ capacity: callers.length - 1 - waiting, sharing, waiting });
      const lost: string[] = [];
      for (const caller of callers) {
        try {
          Promise.resolve(seats.take(caller, never, () => lost.push(caller))).catch(() => lost.push(caller));
        } catch {
          lost.push(`refused ${caller}`);
        }
      }
      return lost;
    };
    const users = ['a', 'b', 'c', 'd', 'e'];
    const site = (count: number): string[] =>
      Array.from({ length: count }, (_, i) => networkCaller(`2001:db8:1:${i.toString(16)}::1`));

    it('preempt the oldest one for a newcomer', () => {
      expect(holders('preempt', users)).to.deep.equal(['a']);
    });

    it('refuse the oldest waiting one for a newcomer', async () => {
      const lost = holders('queue', users, 2);
      await Promise.resolve();
      expect(lost).to.deep.equal(['c']);
    });

    it('refuse a caller who holds one', () => {
      expect(holders('preempt', [...users.slice(1), 'b'])).to.deep.equal(['refused b']);
    });

    it('preempt an idle one first', () => {
      const seats = seatsWith({ capacity: 3, sharing: 'preempt' });
      const lost: string[] = [];
      for (const caller of ['a', 'b', 'c', 'd', 'e']) {
        void seats.take(
          caller,
          never,
          () => lost.push(caller),
          () => caller === 'b' || caller === 'c',
        );
      }
      expect(lost).to.deep.equal(['b', 'c']);
    });

    it('preempt the networks of one site first', () => {
      const [first = '', ...networks] = site(6);
      expect(holders('preempt', ['a', first, ...networks, 'b'])).to.deep.equal([networks.at(-1)]);
    });

    it('preempt the oldest network of the site of a newcomer', () => {
      expect(holders('preempt', site(6))).to.deep.equal(site(1));
    });
  });

  it('with reserve: a site has the share of one caller, and its networks share this part', async () => {
    const seats = seatsWith({ capacity: 12, waiting: 20 });
    const order: string[] = [];
    const held: Seat[] = [];
    const take = (address: string): void => {
      const taken = seats.take(networkCaller(address), never);
      if (!(taken instanceof Promise)) held.push(taken);
      else void taken.then(() => order.push(address));
    };
    for (let i = 0; i < 8; i++) take('192.0.2.1');
    take('192.0.2.2');
    expect([seats.held, seats.waiting]).to.deep.equal([6, 3]);
    take('198.51.100.1');
    expect([seats.held, seats.waiting]).to.deep.equal([7, 3]);
    held.shift()?.[Symbol.dispose]();
    await Promise.resolve();
    expect(order).to.deep.equal(['192.0.2.2']);
  });

  it('serve sites round-robin', async () => {
    const seats = seatsWith({ capacity: 1, sharing: 'queue' });
    const order: string[] = [];
    const callers = ['2001:db8:1:1::', '2001:db8:1:2::', '2001:db8:1:3::', '192.0.2.1', '192.0.2.1'];
    await Promise.all(
      callers.map(async (address) => {
        using _seat = await seats.take(networkCaller(address), never);
        order.push(address);
        await Promise.resolve();
      }),
    );
    expect(order).to.deep.equal([callers[0], callers[1], callers[3], callers[2], callers[4]]);
  });

  it('with reserve: leave free seats for newcomers', () => {
    const seats = seatsWith({ capacity: 12, waiting: 0 });
    const takenBy = (caller: string): number => {
      const before = seats.held;
      try {
        for (;;) void seats.take(caller, never);
      } catch {
        return seats.held - before;
      }
    };
    expect(['a', 'b', 'c', 'd'].map(takenBy)).to.deep.equal([6, 3, 2, 1]);
  });

  it('serve callers round-robin, and the requests of one caller in order', async () => {
    const seats = seatsWith({ capacity: 1, sharing: 'queue' });
    const order: string[] = [];
    const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'];
    await Promise.all(
      names.map(async (name) => {
        using _seat = await seats.take(name.slice(0, 1), never);
        order.push(name);
        await Promise.resolve();
      }),
    );
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('refuse after the maximum wait', async () => {
    const seats = seatsWith({ capacity: 1, waitMs: 5 });
    using _seat = await seats.take('a', never);
    expect(await rejection(Promise.resolve(seats.take('b', never)))).to.have.property('message', 'refused');
    expect([seats.held, seats.waiting, seats.refused]).to.deep.equal([1, 0, 1]);
  });

  it('use no memory for callers without seats, but for the last few', () => {
    const seats = seatsWith({ capacity: 10_000 });
    const held = Array.from({ length: 5_000 }, (_, i) => seats.take(`caller ${i}`, never));
    expect(seats.callers).to.equal(5_000);
    for (const seat of held) if (!(seat instanceof Promise)) seat[Symbol.dispose]();
    expect(seats.callers).to.be.at.most(64);
  });
});
