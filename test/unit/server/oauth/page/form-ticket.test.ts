import { expect } from 'chai';
import { FormTickets } from '../../../../../server/oauth/page/form-ticket.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';

describe('the ticket of a form', () => {
  let now = 0;

  async function tickets(): Promise<[FormTickets<{ a: string }>, FormTickets<{ a: string }>]> {
    const own = { keys: await memoryKeyRing(), now: () => now };
    return [new FormTickets('one', 1000, own), new FormTickets('two', 1000, own)];
  }

  it('brings back what was sealed, to the same browser', async () => {
    const [one] = await tickets();
    expect(one.open(one.seal({ a: 'ü' }, 'browser'), 'browser')).to.deep.equal({
      content: { a: 'ü' },
      expired: false,
    });
  });

  it('is nothing in another browser, at another step, or when it was changed', async () => {
    const [one, two] = await tickets();
    const ticket = one.seal({ a: 'b' }, 'browser');
    expect(one.open(ticket, 'other')).to.equal(undefined);
    expect(two.open(ticket, 'browser')).to.equal(undefined);
    expect(one.open(`${ticket}0`, 'browser')).to.equal(undefined);
    expect(one.open(`x${ticket}`, 'browser')).to.equal(undefined);
    expect(one.open('', 'browser')).to.equal(undefined);
    expect(one.open('no-mac', 'browser')).to.equal(undefined);
  });

  it('says when it is too old', async () => {
    const [one] = await tickets();
    const ticket = one.seal({ a: 'b' }, 'browser');
    now += 999;
    expect(one.open(ticket, 'browser')?.expired).to.equal(false);
    now += 1;
    expect(one.open(ticket, 'browser')?.expired).to.equal(true);
  });
});
