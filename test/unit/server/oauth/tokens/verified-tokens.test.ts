import { expect } from 'chai';
import type { AccessTokenClaims } from '../../../../../server/oauth/tokens/access-token.ts';
import { VerifiedTokens } from '../../../../../server/oauth/tokens/verified-tokens.ts';

const CLAIMS: AccessTokenClaims = {
  iss: 'i',
  sub: 's',
  aud: ['a'],
  exp: 0,
  iat: 0,
  jti: 'j',
  client_id: 'c',
  groups: [],
  sid: 's',
  uid: 'u',
};

describe('VerifiedTokens', () => {
  it('forgets a token when its time is over', () => {
    const tokens = new VerifiedTokens(10, 30_000);
    tokens.add('token', CLAIMS, 1_000);
    expect(tokens.get('token', 30_999)).to.equal(CLAIMS);
    expect(tokens.get('token', 31_000)).to.equal(undefined);
    expect(tokens.get('token', 1_000)).to.equal(undefined);
  });

  it('keeps no more tokens than it may, the newest', () => {
    const tokens = new VerifiedTokens(2, 30_000);
    for (const token of ['a', 'b', 'c']) tokens.add(token, CLAIMS, 0);
    expect(['a', 'b', 'c'].map((token) => tokens.get(token, 1))).to.deep.equal([undefined, CLAIMS, CLAIMS]);
  });

  it('keeps none when it is turned off', () => {
    const tokens = new VerifiedTokens(0, 30_000);
    tokens.add('a', CLAIMS, 0);
    expect(tokens.get('a', 0)).to.equal(undefined);
  });
});
