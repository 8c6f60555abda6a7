// Tests of the semaphore with a queue.
import { expect } from 'chai';
import { Slots, tenantShare } from '../../../../server/concurrency/slots.ts';
import { rejection } from '../../../support/rejection.ts';

const REFUSED = new Error('refused');
const queueOf = (length: number, waitMs = 10_000) => ({ length, waitMs, refusal: () => REFUSED });
const oneWaiting = (waitMs?: number): Slots => new Slots(1, queueOf(1, waitMs));
const never = new AbortController().signal;

describe('Slots', () => {
  it('serves waiting requests in order', async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const first = await slots.take(never);
    const waiting = ['second', 'third'].map(async (name) => {
      using _slot = await slots.take(never);
      order.push(name);
    });
    expect([slots.taken, slots.waiting]).to.deep.equal([1, 2]);
    // A second call of dispose has no effect.
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect([slots.taken, slots.waiting]).to.deep.equal([1, 1]);
    await Promise.all(waiting);
    expect(order).to.deep.equal(['second', 'third']);
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('refuses beyond the queue length and the maximum wait', async () => {
    const slots = oneWaiting(5);
    const first = await slots.take(never);
    const waiting = rejection(slots.take(never));
    expect(await rejection(slots.take(never))).to.equal(REFUSED);
    expect(slots.waiting).to.equal(1);
    expect(await waiting).to.equal(REFUSED);
    first[Symbol.dispose]();
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('removes an aborted request from the queue, and grants it no slot', async () => {
    const slots = oneWaiting();
    const first = await slots.take(never);
    const gone = new AbortController();
    const waiting = rejection(slots.take(gone.signal));
    const reason = new Error('gone');
    gone.abort(reason);
    expect(await waiting).to.equal(reason);
    expect(await rejection(slots.take(gone.signal))).to.equal(reason);
    first[Symbol.dispose]();
    expect(await rejection(slots.take(gone.signal))).to.equal(reason);
    expect(slots.taken).to.equal(0);
  });

  it('skips a caller that has reached its share', async () => {
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

  it('limits one caller to a share of the free slots', async () => {
    const slots = new Slots(8, queueOf(0), tenantShare);
    const takenBy = async (caller: string): Promise<number> => {
      const before = slots.taken;
      for (let i = 0; i < 8; i++) await slots.take(never, caller).catch(() => undefined);
      return slots.taken - before;
    };
    expect([await takenBy('a'), await takenBy('b'), await takenBy('c')]).to.deep.equal([6, 1, 1]);
  });

  it('serves callers round-robin', async () => {
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

  it('serves the caller with the fewest slots first', async () => {
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

  it('displaces waiting requests of a caller that fills the queue', async () => {
    const slots = new Slots(1, queueOf(4));
    using _first = await slots.take(never, 'a');
    const refused: string[] = [];
    const end = new AbortController();
    const wait = (caller: string, name: string): void =>
      void slots.take(end.signal, caller).catch(() => refused.push(name));
    for (const name of ['a1', 'a2', 'a3', 'a4']) wait('a', name);
    for (const name of ['b1', 'b2']) wait('b', name);
    // Now both callers have two waiting requests.
    for (const name of ['a5', 'b3'])
      expect(await rejection(slots.take(never, name.slice(0, 1)))).to.equal(REFUSED);
    expect(refused).to.deep.equal(['a4', 'a3']);
    expect(slots.waiting).to.equal(4);
    end.abort();
  });
});
