// Tests of continue tokens. The integration tests compare the errors of invalid tokens with kube-apiserver.
import { expect } from 'chai';
import { decodeContinue, encodeContinue } from '../../../../../apis/meta/v1/continue-token.ts';

describe('continue token', () => {
  it('round-trips, also with a resourceVersion above 2^53', () => {
    const given = { resourceVersion: '18446744073709551615', after: 'namespace/näme' };
    expect(decodeContinue(encodeContinue(given))).to.deep.equal(given);
  });

  it("equals kube-apiserver's token", () => {
    const text = Buffer.from(encodeContinue({ resourceVersion: '12', after: 'a' }), 'base64url').toString();
    expect(JSON.parse(text)).to.deep.equal({ v: 'meta.k8s.io/v1', rv: 12, start: '/a\u0000' });
  });

  it('is rejected with more digits than those of a resourceVersion', () => {
    const given = { resourceVersion: '9'.repeat(21), after: 'a' };
    expect(() => decodeContinue(encodeContinue(given))).to.throw('continue');
  });

  it('is rejected with several resourceVersions, of which kube-apiserver reads the last one', () => {
    const json = '{"v":"meta.k8s.io/v1","rv":12,"rv":1,"start":"/a\\u0000"}';
    expect(() => decodeContinue(Buffer.from(json).toString('base64url'))).to.throw('continue');
  });

  it('is accepted without the slash, as kube-apiserver sends it after a read from etcd', () => {
    const json = JSON.stringify({ v: 'meta.k8s.io/v1', rv: 12, start: 'a/b\u0000' });
    const text = Buffer.from(json).toString('base64url');
    expect(decodeContinue(text)).to.deep.equal({ resourceVersion: '12', after: 'a/b' });
  });
});
