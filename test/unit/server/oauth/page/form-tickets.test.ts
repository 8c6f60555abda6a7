// Tests of the CSRF tokens in HTML forms.
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { browserIDIn, browserOf, FormTickets } from '../../../../../server/oauth/page/form-tickets.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';

const ID = 'AAAAAAAAAAAAAAAAAAAAAA';

describe('a form ticket', () => {
  let now = 0;

  async function tickets(): Promise<[FormTickets<{ a: string }>, FormTickets<{ a: string }>]> {
    const own = { keys: await memoryKeyRing(), now: () => now };
    return [new FormTickets('one', 1000, own), new FormTickets('two', 1000, own)];
  }

  it('is not valid in another browser, and does not contain the browser id; it expires', async () => {
    const [one] = await tickets();
    const ticket = one.seal({ a: 'b' }, 'the id');
    now += 999;
    expect(one.open(ticket, 'the id')).to.deep.equal({ content: { a: 'b' }, rejection: undefined });
    expect(one.open(ticket, 'other')).to.deep.equal({ content: { a: 'b' }, rejection: 'other browser' });
    expect(one.open(ticket, '')?.rejection).to.equal('other browser');
    now += 1;
    expect(one.open(ticket, 'the id')?.rejection).to.equal('expired');
    expect(one.open(ticket, 'other')?.rejection).to.equal('other browser');
    expect(Buffer.from(ticket, 'base64url').toString()).not.to.contain('the id');
  });

  it('does not open in another step, or after a change', async () => {
    const [one, two] = await tickets();
    const ticket = one.seal({ a: 'b' }, 'browser');
    expect(two.open(ticket, 'browser')).to.equal(undefined);
    for (const changed of [`${ticket}0`, `x${ticket}`, '', 'no-mac']) {
      expect(one.open(changed, 'browser'), changed).to.equal(undefined);
    }
  });
});

describe('the browser of a form', () => {
  function from(headers: IncomingHttpHeaders): IncomingMessage {
    const request = new IncomingMessage(new Socket());
    Object.assign(request.headers, headers);
    return request;
  }

  it('is identified by its cookie, among other cookies', () => {
    for (const cookie of [
      `__Host-sign-in=${ID}`,
      `a=b; __Host-sign-in=${ID}; c=d`,
      `a=b;__Host-sign-in=${ID}`,
    ]) {
      expect(browserIDIn(from({ cookie })), cookie).to.equal(ID);
      expect(browserOf(from({ cookie })).id, cookie).to.equal(ID);
    }
  });

  it('is a new one with any other cookie, such as one that a sibling domain has set', () => {
    for (const cookie of [`x__Host-sign-in=${ID}`, `a=__Host-sign-in=${ID}`, `__Host-sign-in=${ID}A`, '']) {
      expect(browserIDIn(from({ cookie })), cookie).to.equal(undefined);
      expect(browserOf(from({ cookie })).id, cookie)
        .to.match(/^[\w-]{22}$/)
        .and.not.equal(ID);
    }
  });
});
