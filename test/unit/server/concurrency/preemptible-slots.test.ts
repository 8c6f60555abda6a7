import { expect } from 'chai';
import { type PreemptibleSlot, PreemptibleSlots } from '../../../../server/concurrency/preemptible-slots.ts';
import { rejection } from '../../../support/rejection.ts';

const REFUSED = new Error('refused');
const PREEMPTED = new Error('preempted');
const never = new AbortController().signal;

describe('PreemptibleSlots', () => {
  let slots: PreemptibleSlots;
  beforeEach(() => {
    slots = new PreemptibleSlots(4, { refusal: () => REFUSED, preemption: () => PREEMPTED });
  });

  const taken = (...callers: string[]): Promise<PreemptibleSlot[]> =>
    Promise.all(callers.map((caller) => slots.take(never, caller)));
  const preempted = (held: readonly PreemptibleSlot[]): boolean[] =>
    held.map((slot) => slot.preempted.aborted);

  it('can all be taken by one caller', async () => {
    const held = await taken('a', 'a', 'a', 'a');
    expect(await rejection(slots.take(never, 'a'))).to.equal(REFUSED);
    expect(preempted(held)).to.deep.equal([false, false, false, false]);
    held[0]?.[Symbol.dispose]();
    held[0]?.[Symbol.dispose]();
    await taken('a');
    expect(await rejection(slots.take(never, 'a'))).to.equal(REFUSED);
  });

  it('preempts the newest slot of the caller with the most, and waits until it is released', async () => {
    const held = await taken('b', 'a', 'a', 'a');
    let isIn = false;
    const coming = slots.take(never, 'c').finally(() => {
      isIn = true;
    });
    await Promise.resolve();
    expect(isIn).to.equal(false);
    expect(preempted(held)).to.deep.equal([false, false, false, true]);
    expect(held[3]?.preempted.reason).to.equal(PREEMPTED);
    held[3]?.[Symbol.dispose]();
    expect((await coming).preempted.aborted).to.equal(false);
  });

  it('preempts nothing between equal callers', async () => {
    const held = await taken('a', 'a', 'b', 'c');
    for (const caller of ['a', 'b', 'c'])
      expect(await rejection(slots.take(never, caller))).to.equal(REFUSED);
    const coming = slots.take(never, 'd');
    held[1]?.[Symbol.dispose]();
    await coming;
    expect(await rejection(slots.take(never, 'e'))).to.equal(REFUSED);
    expect(preempted(held)).to.deep.equal([false, true, false, false]);
  });

  it('passes on the slot of an aborted waiter', async () => {
    const held = await taken('a', 'a', 'a', 'a');
    const gone = new AbortController();
    const coming = rejection(slots.take(gone.signal, 'b'));
    gone.abort(new Error('gone'));
    expect(await coming).to.include({ message: 'gone' });
    expect(await rejection(slots.take(gone.signal, 'b'))).to.include({ message: 'gone' });
    held[3]?.[Symbol.dispose]();
    await taken('c');
    expect(preempted(held.slice(0, 3))).to.deep.equal([false, false, false]);
  });
});
