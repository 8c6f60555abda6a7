import { expect } from 'chai';
import { isServedInPlain } from '../../../../server/listener/plain-paths.ts';

describe('isServedInPlain', () => {
  for (const target of [
    '/oauth/token',
    '/kapis/a/b?x=/../',
    '/livez',
    '/readyz/ping',
    '/healthz?verbose',
    '/oauth',
  ]) {
    it(`serves ${target}`, () => expect(isServedInPlain(target)).to.equal(true));
  }
  for (const target of [
    '/',
    '/apis',
    '/api/v1/nodes',
    '/metrics',
    '/oauthx',
    '/OAuth',
    '//oauth',
    '/kapis/../apis',
    '/kapis/%2e%2E/apis',
    '/kapis/.%2e/apis',
    '/kapis/..\\apis',
    'http://host/oauth',
    '*',
    '',
  ]) {
    it(`does not serve ${target}`, () => expect(isServedInPlain(target)).to.equal(false));
  }
});
