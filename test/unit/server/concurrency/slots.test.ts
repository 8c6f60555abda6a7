import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { mostOfOne } from '../../../../server/concurrency/share-of-one.ts';
import { Slots } from '../../../../server/concurrency/slots.ts';

const REFUSED = new Error('refused');
const queueOf = (length: number, waitMs = 10_000) => ({ length, waitMs, refusal: () => REFUSED });
const oneWaiting = (waitMs?: number): Slots => new Slots(1, queueOf(1, waitMs));
const never = new AbortController().signal;

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('slots', () => {
  it('are taken over by who has waited longest', async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const first = await slots.take(never);
    const waiting = ['second', 'third'].map(async (name) => {
      using _slot = await slots.take(never);
      order.push(name);
    });
    expect([slots.taken, slots.waiting]).to.deep.equal([1, 2]);
    // Given back once, however often it is said.
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect([slots.taken, slots.waiting]).to.deep.equal([1, 1]);
    await Promise.all(waiting);
    expect(order).to.deep.equal(['second', 'third']);
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('refuse who finds no place to wait, and who has waited too long', async () => {
    const slots = oneWaiting(5);
    const first = await slots.take(never);
    const waiting = failure(slots.take(never));
    expect(await failure(slots.take(never))).to.equal(REFUSED);
    expect(slots.waiting).to.equal(1);
    expect(await waiting).to.equal(REFUSED);
    first[Symbol.dispose]();
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('are not kept for who has left the queue', async () => {
    const slots = oneWaiting();
    const first = await slots.take(never);
    const gone = new AbortController();
    const waiting = failure(slots.take(gone.signal));
    const reason = new Error('gone');
    gone.abort(reason);
    expect(await waiting).to.equal(reason);
    first[Symbol.dispose]();
    expect(slots.taken).to.equal(0);
  });

  it('are not taken by who has gone before', async () => {
    const slots = oneWaiting();
    const reason = new Error('gone');
    expect(await failure(slots.take(AbortSignal.abort(reason)))).to.equal(reason);
    expect(slots.taken).to.equal(0);
  });

  it('leave nothing behind of the wait', async () => {
    const slots = oneWaiting();
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const { signal } = new AbortController();
    const first = await slots.take(signal);
    const before = timers();
    const waiting = slots.take(signal);
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    first[Symbol.dispose]();
    using _second = await waiting;
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    expect(timers()).to.equal(before);
  });

  it('go to the next one who may have more where somebody has his share', async () => {
    const slots = new Slots(2, queueOf(4), () => 1);
    const first = await slots.take(never, 'a');
    let isIn = false;
    const second = slots.take(never, 'a').then((slot) => {
      isIn = true;
      return slot;
    });
    const other = await slots.take(never, 'b');
    const third = slots.take(never, 'c');
    expect([slots.taken, slots.waiting]).to.deep.equal([2, 2]);
    other[Symbol.dispose]();
    using _third = await third;
    expect([isIn, slots.taken, slots.waiting]).to.deep.equal([false, 2, 1]);
    first[Symbol.dispose]();
    using _second = await second;
    expect([slots.taken, slots.waiting]).to.deep.equal([2, 0]);
  });

  it('are for one caller a part of what the others leave', async () => {
    const slots = new Slots(8, queueOf(0), mostOfOne);
    const takenBy = async (caller: string): Promise<number> => {
      const before = slots.taken;
      while (!(await failure(slots.take(never, caller))));
      return slots.taken - before;
    };
    expect([await takenBy('a'), await takenBy('b'), await takenBy('c')]).to.deep.equal([6, 1, 1]);
  });

  it('go to callers in turns, however many one of them waits for', async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const work = async (caller: string, name: string): Promise<void> => {
      using _slot = await slots.take(never, caller);
      order.push(name);
      await Promise.resolve();
    };
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => work(name.slice(0, 1), name));
    await Promise.all(all);
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('go first to who has fewest of them', async () => {
    const slots = new Slots(3);
    const taken = [await slots.take(never, 'a'), await slots.take(never, 'a'), await slots.take(never, 'b')];
    const order: string[] = [];
    const waiting = ['a', 'b', 'c'].map(async (caller) => {
      await slots.take(never, caller);
      order.push(caller);
    });
    for (const slot of taken) slot[Symbol.dispose]();
    await Promise.all(waiting);
    expect(order).to.deep.equal(['c', 'a', 'b']);
  });

  it('are waited for by others where one caller has filled the queue', async () => {
    const slots = new Slots(1, queueOf(4));
    using _first = await slots.take(never, 'a');
    const refused: string[] = [];
    const end = new AbortController();
    const wait = (caller: string, name: string): void =>
      void slots.take(end.signal, caller).catch(() => refused.push(name));
    for (const name of ['a1', 'a2', 'a3', 'a4']) wait('a', name);
    for (const name of ['b1', 'b2']) wait('b', name);
    // Both have two now.
    for (const name of ['a5', 'b3'])
      expect(await failure(slots.take(never, name.slice(0, 1)))).to.equal(REFUSED);
    expect(refused).to.deep.equal(['a4', 'a3']);
    expect(slots.waiting).to.equal(4);
    end.abort();
  });
});
