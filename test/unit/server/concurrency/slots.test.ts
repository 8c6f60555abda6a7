import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Slots } from '../../../../server/concurrency/slots.ts';

const REFUSED = new Error('refused');
const oneWaiting = (waitMs = 10_000): Slots => new Slots(1, { length: 1, waitMs, refusal: () => REFUSED });
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
    const queue = { length: 4, waitMs: 10_000, refusal: () => REFUSED };
    const slots = new Slots(2, queue, { slots: 1, waiting: 1 });
    const first = await slots.take(never, 'a');
    let isIn = false;
    const second = slots.take(never, 'a').then((slot) => {
      isIn = true;
      return slot;
    });
    expect(await failure(slots.take(never, 'a'))).to.equal(REFUSED);
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
});
