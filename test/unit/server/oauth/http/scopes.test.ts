import { expect } from 'chai';
import { OAuthError } from '../../../../../apis/oauth/errors.ts';
import { requestedScopes } from '../../../../../server/oauth/http/scopes.ts';

describe('requestedScopes', () => {
  const allowed = ['openid', 'email'];

  it('returns no scopes without a parameter', () => {
    expect(requestedScopes(undefined, allowed)).to.deep.equal([]);
  });

  it('removes duplicates and keeps the order', () => {
    expect(requestedScopes('email openid email', allowed)).to.deep.equal(['email', 'openid']);
  });

  it('ignores unknown scopes beside openid', () => {
    expect(requestedScopes('openid offline_access email', allowed)).to.deep.equal(['openid', 'email']);
    expect(requestedScopes('openid offline_access', [...allowed, 'offline_access'])).to.deep.equal([
      'openid',
      'offline_access',
    ]);
  });

  for (const scope of [
    'admin',
    'email offline_access',
    'openid groups',
    'openid  email',
    ' openid',
    'OPENID',
    'open"id',
    'é',
    '__proto__',
  ]) {
    it(`rejects ${JSON.stringify(scope)}`, () => {
      expect(() => requestedScopes(scope, allowed))
        .to.throw(OAuthError)
        .with.property('code', 'invalid_scope');
    });
  }

  it('rejects a very long scope', () => {
    expect(() => requestedScopes('openid '.repeat(200).trim(), allowed)).to.throw(OAuthError);
  });
});
