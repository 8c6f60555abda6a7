// Tests of the order of kubelet versions.
import { expect } from 'chai';
import { compareVersions } from '../../../../../server/resources/profiles/node-values.ts';

describe('compareVersions', () => {
  it('orders kubelet versions as versions, not as text', () => {
    const ordered = [
      '',
      '9'.repeat(300),
      'unknown',
      'v1.9.10',
      'v1.10.0-alpha',
      'v1.10.0-alpha.1',
      'v1.10.0-alpha.beta',
      'v1.10.0-beta.2',
      'v1.10.0-beta.11',
      'v1.10.0-rc.1',
      'v1.10.0',
      'v1.10.0+k3s1',
      'v1.10.1',
      'v1.36.3',
      'v2.0.0',
    ];
    for (const [i, left] of ordered.entries()) {
      for (const [j, right] of ordered.entries()) {
        expect(Math.sign(compareVersions(left, right)), `${left} ${right}`).to.equal(Math.sign(i - j));
      }
    }
  });
});
