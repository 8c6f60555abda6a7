// Tests of the semaphore with preemption.
import { expect } from 'chai';
import { PreemptibleSlots } from '../../../../server/concurrency/preemptible-slots.ts';
import { rejection } from '../../../support/rejection.ts';

const never = new AbortController().signal;

describe('PreemptibleSlots', () => {
  it('passes on the slot of an aborted waiter', async () => {
    const errors = { refusal: () => new Error('refused'), preemption: () => new Error('preempted') };
    const slots = new PreemptibleSlots(2, errors);
    const [first, second] = [await slots.take(never, 'a'), await slots.take(never, 'a')];
    const gone = new AbortController();
    const coming = rejection(slots.take(gone.signal, 'b'));
    gone.abort(new Error('gone'));
    expect(await coming).to.include({ message: 'gone' });
    expect(await rejection(slots.take(gone.signal, 'b'))).to.include({ message: 'gone' });
    second[Symbol.dispose]();
    await slots.take(never, 'c');
    expect(first.preempted.aborted).to.equal(false);
  });
});
