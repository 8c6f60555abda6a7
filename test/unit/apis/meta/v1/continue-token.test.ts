// Tests of the encoder and decoder of continue tokens.
import { expect } from 'chai';
import { decodeContinue, encodeContinue } from '../../../../../apis/meta/v1/continue-token.ts';

function token(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

describe('continue token', () => {
  it('round-trips, also with a resourceVersion above 2^53', () => {
    const given = { resourceVersion: '18446744073709551615', after: 'namespace/näme' };
    expect(decodeContinue(encodeContinue(given))).to.deep.equal(given);
  });

  it("equals kube-apiserver's token", () => {
    const text = Buffer.from(encodeContinue({ resourceVersion: '12', after: 'a' }), 'base64url').toString();
    expect(JSON.parse(text)).to.deep.equal({ v: 'meta.k8s.io/v1', rv: 12, start: 'a\u0000' });
  });

  for (const [text, why] of [
    ['a+b/c=', 'illegal base64 data at input byte 1'],
    ['abcde', 'illegal base64 data at input byte 4'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a/../b\u0000' }), 'a/../b\u0000'],
    [token({ v: 'meta.k8s.io/v1', rv: 1, start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [
      token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a\u0000' }),
      'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [token('nonsense'), "invalid character 'o' in literal null (expecting 'u')"],
    [token('{"v":"meta.k8s.io/v1","rv":1'), 'unexpected end of JSON input'],
    [token(7), 'json: cannot unmarshal number into Go value of type storage.continueToken'],
    [token('null'), 'server does not recognize this encoded version '],
    [
      token({ v: 'meta.k8s.io/v1', rv: '1', start: 'a' }),
      'json: cannot unmarshal string into Go struct field continueToken.rv of type int64',
    ],
    [
      token({ v: 'meta.k8s.io/v1', rv: 1.5, start: 'a' }),
      'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64',
    ],
    [
      token({ v: 'meta.k8s.io/v2', rv: 1, start: 'a\u0000' }),
      'server does not recognize this encoded version ',
    ],
    [token({ v: 'meta.k8s.io/v1', start: 'a\u0000' }), 'incorrect encoded start resourceVersion'],
    [token('{"v":"meta.k8s.io/v1","rv":1e3,"start":"a\\u0000"}'), 'json: cannot unmarshal number'],
    [token({ v: 'meta.k8s.io/v1', rv: 1 }), 'encoded start key empty'],
    [
      token({ v: true, rv: 1, start: [] }),
      'json: cannot unmarshal bool into Go struct field continueToken.v of type string',
    ],
  ] as const) {
    it(`is rejected with kube-apiserver's message: ${JSON.stringify(why)}`, () => {
      expect(() => decodeContinue(text))
        .to.throw(`invalid continue token: continue key is not valid: ${why}`)
        .with.property('code', 400);
    });
  }
});
