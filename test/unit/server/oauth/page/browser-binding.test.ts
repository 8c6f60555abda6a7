import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import {
  browserOf,
  comesFromElsewhere,
  knownBrowser,
} from '../../../../../server/oauth/page/browser-binding.ts';

const ID = 'AAAAAAAAAAAAAAAAAAAAAA';

function from(headers: IncomingHttpHeaders): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  return request;
}

describe('the browser that a form was made for', () => {
  it('is known again by its cookie, among others', () => {
    for (const cookie of [
      `__Host-sign-in=${ID}`,
      `a=b; __Host-sign-in=${ID}; c=d`,
      `a=b;__Host-sign-in=${ID}`,
    ]) {
      expect(knownBrowser(from({ cookie })), cookie).to.equal(ID);
      expect(browserOf(from({ cookie })).id, cookie).to.equal(ID);
    }
  });

  it('is another one by any other cookie: a sibling domain can set one whose name only ends like ours', () => {
    for (const cookie of [`x__Host-sign-in=${ID}`, `a=__Host-sign-in=${ID}`, `__Host-sign-in=${ID}A`, '']) {
      expect(knownBrowser(from({ cookie })), cookie).to.equal(undefined);
      expect(browserOf(from({ cookie })).id, cookie)
        .to.match(/^[\w-]{22}$/)
        .and.not.equal(ID);
    }
  });

  it('says where a form was sent from, where it does: only our own pages may', () => {
    expect(comesFromElsewhere(from({}))).to.equal(false);
    expect(comesFromElsewhere(from({ 'sec-fetch-site': 'same-origin' }))).to.equal(false);
    for (const site of ['same-site', 'cross-site', 'none']) {
      expect(comesFromElsewhere(from({ 'sec-fetch-site': site })), site).to.equal(true);
    }
  });
});
