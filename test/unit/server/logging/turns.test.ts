import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ReadSlots } from '../../../../server/logging/backends/kubernetes/reading/read-slots.ts';
import { Turns } from '../../../../server/logging/turns.ts';

describe('turns', () => {
  it('let everything else run between the pieces of work of many readers', async () => {
    // Every piece of work uses up its slice.
    const turns = new Turns(0);
    const happened: string[] = [];
    let working = true;
    const others = (): void => {
      happened.push('other');
      if (working) setImmediate(others);
    };
    setImmediate(others);
    await Promise.all(
      Array.from({ length: 20 }, async (_, reader) => {
        await turns.next();
        happened.push(`reader ${reader}`);
      }),
    );
    working = false;
    expect(happened.filter((what) => what === 'other').length).to.be.at.least(19);
    expect(happened.filter((what) => what !== 'other')).to.deep.equal(
      Array.from({ length: 20 }, (_, reader) => `reader ${reader}`),
    );
  });
});

describe('a slice of time', () => {
  it('is used up by work, and a new one begins when everything else has run', async () => {
    const turns = new Turns(0.2);
    expect(turns.spent).to.equal(false);
    for (const end = performance.now() + 0.3; performance.now() < end; );
    expect(turns.spent).to.equal(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns.spent).to.equal(false);
  });
});

describe('slots for reading', () => {
  it('go to those who have waited longest, and not to those who have gone', async () => {
    const slots = new ReadSlots(1);
    const signal = new AbortController().signal;
    const first = await slots.take(signal);
    const gone = new AbortController();
    const order: string[] = [];
    const left = slots.take(gone.signal).catch(() => order.push('left'));
    const waiting = ['b', 'c'].map(async (name) => {
      using _slot = await slots.take(signal);
      order.push(name);
    });
    gone.abort();
    await left;
    first[Symbol.dispose]();
    await Promise.all(waiting);
    expect(order).to.deep.equal(['left', 'b', 'c']);
    using _free = await slots.take(signal);
  });

  it('are not taken by who has gone before, and hold on to nobody who has waited', async () => {
    const slots = new ReadSlots(1);
    const reason = new Error('gone');
    const refused: unknown = await slots.take(AbortSignal.abort(reason)).catch((error: unknown) => error);
    expect(refused).to.equal(reason);
    const { signal } = new AbortController();
    const first = await slots.take(signal);
    const waiting = slots.take(signal);
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    first[Symbol.dispose]();
    using _second = await waiting;
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });
});
