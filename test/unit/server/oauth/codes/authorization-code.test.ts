// Tests of PKCE code challenges.
import { expect } from 'chai';
import { challengeOf } from '../../../../../server/oauth/codes/authorization-code.ts';

describe('a code challenge', () => {
  it('equals the example of RFC 7636, appendix B', () => {
    expect(challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).to.equal(
      'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    );
  });

  it('requires a verifier of 43 to 128 unreserved characters', () => {
    expect(challengeOf('a'.repeat(42))).to.equal(undefined);
    expect(challengeOf('a'.repeat(43))).to.be.a('string');
    expect(challengeOf('a'.repeat(128))).to.be.a('string');
    expect(challengeOf('a'.repeat(129))).to.equal(undefined);
    expect(challengeOf(`${'a'.repeat(43)}+`)).to.equal(undefined);
  });
});
