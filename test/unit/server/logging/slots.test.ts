import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Slots } from '../../../../server/logging/slots.ts';

const OPTIONS = { what: 'queries', slots: 1, queue: 1, waitMs: 10_000, retryAfterSeconds: 3 };
const never = new AbortController().signal;

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('slots', () => {
  it('are taken over by who has waited longest', async () => {
    const slots = new Slots({ ...OPTIONS, queue: 2 });
    const order: string[] = [];
    const leave = await slots.take(never);
    const second = slots.take(never).then((left) => {
      order.push('second');
      left();
    });
    const third = slots.take(never).then((left) => {
      order.push('third');
      left();
    });
    expect(slots.waiting).to.equal(2);
    leave();
    leave();
    await Promise.all([second, third]);
    expect(order).to.deep.equal(['second', 'third']);
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('refuse who finds no place to wait, and who has waited too long', async () => {
    const slots = new Slots({ ...OPTIONS, waitMs: 5 });
    const leave = await slots.take(never);
    const waiting = failure(slots.take(never));
    const refused = await failure(slots.take(never));
    expect(refused).to.deep.include({ code: 429, details: { retryAfterSeconds: 3 } });
    expect(await waiting).to.have.property('code', 429);
    leave();
    expect([slots.taken, slots.waiting]).to.deep.equal([0, 0]);
  });

  it('send those who are refused together back at different times', async () => {
    const slots = new Slots({ ...OPTIONS, queue: 0, retrySpreadSeconds: 2 });
    await slots.take(never);
    const refused = [await failure(slots.take(never)), await failure(slots.take(never))];
    expect(refused).to.have.nested.property('[0].details.retryAfterSeconds', 3);
    expect(refused).to.have.nested.property('[1].details.retryAfterSeconds', 4);
  });

  it('are not kept for who has left the queue', async () => {
    const slots = new Slots(OPTIONS);
    const leave = await slots.take(never);
    const gone = new AbortController();
    const waiting = failure(slots.take(gone.signal));
    const reason = new Error('gone');
    gone.abort(reason);
    expect(await waiting).to.equal(reason);
    leave();
    expect(slots.taken).to.equal(0);
  });

  it('are not taken by who has gone before', async () => {
    const slots = new Slots(OPTIONS);
    const reason = new Error('gone');
    expect(await failure(slots.take(AbortSignal.abort(reason)))).to.equal(reason);
    expect(slots.taken).to.equal(0);
  });

  it('leave nothing behind of the wait', async () => {
    const slots = new Slots(OPTIONS);
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const { signal } = new AbortController();
    const leave = await slots.take(signal);
    const before = timers();
    const waiting = slots.take(signal);
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    leave();
    (await waiting)();
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    expect(timers()).to.equal(before);
  });
});
