import { expect } from 'chai';
import { podPattern } from '../../../../../server/logging/matching/workload-names.ts';

const LONG = 'a-deployment-with-a-name-of-more-than-forty-seven-letters';

const matches = (workloads: readonly string[], how: 'exact' | 'contains', pod: string): boolean =>
  new RegExp(`^(?:${podPattern(workloads, how)})$`, 'u').test(pod);

describe('the pods of a workload', () => {
  for (const pod of ['web-5d78c9869d-x7k2p', 'web-x7k2p', 'web-0', 'web-12', 'web-29342881-x7k2p']) {
    it(`are told by name: ${pod} is of web`, () => {
      expect(matches(['db', 'web'], 'exact', pod)).to.equal(true);
      expect(matches(['we'], 'exact', pod)).to.equal(false);
      expect(matches(['we'], 'contains', pod)).to.equal(true);
    });
  }

  for (const pod of ['web', 'web-api-5d78c9869d-x7k2p', 'web-x7k2', 'web-5d78c9869d-aeiou', 'my-web-0']) {
    it(`are told by name: ${pod} is not of web`, () => {
      expect(matches(['web'], 'exact', pod)).to.equal(false);
    });
  }

  it('are found where Kubernetes had to cut the name', () => {
    expect(matches([LONG], 'exact', `${LONG}-`.slice(0, 58) + 'x7k2p')).to.equal(true);
    expect(matches([LONG.slice(0, 47)], 'exact', `${LONG.slice(0, 47)}-5d78c9869dx7k2p`)).to.equal(true);
  });

  it('are not found by what is no name', () => {
    for (const name of ['.*', 'web|db', '[a-z]', '^web', 'w\\eb']) {
      expect(matches([name], 'exact', 'web-0')).to.equal(false);
      expect(matches([name], 'contains', 'web-0')).to.equal(false);
    }
  });

  it('ignores case in a text', () => {
    expect(matches(['WE'], 'contains', 'web-0')).to.equal(true);
  });
});
