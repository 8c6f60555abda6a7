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
  let now = 0;
  const remembered = (most: number): VerifiedTokens =>
    new VerifiedTokens({ most, ttlMs: 30_000, now: () => now });

  it('forgets a token when its time is over', () => {
    const tokens = remembered(10);
    now = 1_000;
    tokens.add('token', CLAIMS);
    now = 30_999;
    expect(tokens.get('token')).to.equal(CLAIMS);
    now = 31_000;
    expect(tokens.get('token')).to.equal(undefined);
  });

  it('keeps no more tokens than it may, the newest', () => {
    const tokens = remembered(2);
    for (const token of ['a', 'b', 'c']) tokens.add(token, CLAIMS);
    expect(['a', 'b', 'c'].map((token) => tokens.get(token))).to.deep.equal([undefined, CLAIMS, CLAIMS]);
  });

  it('keeps none when it is turned off', () => {
    const tokens = remembered(0);
    tokens.add('a', CLAIMS);
    expect(tokens.get('a')).to.equal(undefined);
  });
});
