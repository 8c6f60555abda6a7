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
      fault: undefined,
    });
  });

  it('says when it was made for another browser, too old or not, and does not tell which', async () => {
    const [one] = await tickets();
    const ticket = one.seal({ a: 'b' }, 'the id');
    expect(one.open(ticket, 'other')).to.deep.equal({ content: { a: 'b' }, fault: 'other browser' });
    expect(one.open(ticket, '')?.fault).to.equal('other browser');
    now += 1000;
    expect(one.open(ticket, 'other')?.fault).to.equal('other browser');
    expect(Buffer.from(ticket, 'base64url').toString()).not.to.contain('the id');
  });

  it('is nothing at another step, or when it was changed', async () => {
    const [one, two] = await tickets();
    const ticket = one.seal({ a: 'b' }, 'browser');
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
    expect(one.open(ticket, 'browser')?.fault).to.equal(undefined);
    now += 1;
    expect(one.open(ticket, 'browser')?.fault).to.equal('expired');
  });
});
