// Tests of the patterns for the pod names of a workload.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { podPatterns, workloadMatcher } from '../../../../../server/logging/matching/workload-names.ts';

const LONG = 'a-deployment-with-a-name-of-more-than-forty-seven-letters';

const matches = (workloads: readonly string[], how: 'exact' | 'contains', pod: string): boolean =>
  workloadMatcher({ [how]: workloads })(pod);

describe('the pods of a workload', () => {
  for (const pod of ['web-5d78c9869d-x7k2p', 'web-x7k2p', 'web-0', 'web-12', 'web-29342881-x7k2p']) {
    it(`include ${pod} for web`, () => {
      expect(matches(['db', 'web'], 'exact', pod)).to.equal(true);
      expect(matches(['we'], 'exact', pod)).to.equal(false);
      expect(matches(['we'], 'contains', pod)).to.equal(true);
    });
  }

  for (const pod of ['web', 'web-api-5d78c9869d-x7k2p', 'web-x7k2', 'web-5d78c9869d-aeiou', 'my-web-0']) {
    it(`exclude ${pod} for web`, () => {
      expect(matches(['web'], 'exact', pod)).to.equal(false);
    });
  }

  it('include truncated names', () => {
    expect(matches([LONG], 'exact', `${LONG}-`.slice(0, 58) + 'x7k2p')).to.equal(true);
    expect(matches([LONG.slice(0, 47)], 'exact', `${LONG.slice(0, 47)}-5d78c9869dx7k2p`)).to.equal(true);
  });

  it('agree with the regular expressions for stores', () => {
    const piece = fc.constantFrom('web', 'w', 'x7k2p', '5d78c9869d', '24567', '0', '12', 'aeiou', LONG, '.');
    const name = fc
      .array(piece, { minLength: 1, maxLength: 4 })
      .chain((pieces) =>
        fc
          .tuple(fc.constantFrom('-', '', '.'), fc.integer({ min: 1, max: 70 }))
          .map(([sign, end]) => pieces.join(sign).slice(0, end)),
      );
    const pods = fc
      .tuple(name, fc.constantFrom('-x7k2p', '-5d78c9869d-x7k2p', '-3', '-29342881-x7k2p', 'x7k2p', ''))
      .map(([begin, end]) => begin + end);
    const parts = fc.oneof(fc.constant(undefined), fc.array(name, { maxLength: 3 }));
    fc.assert(
      fc.property(parts, parts, pods, (exact, contains, pod) => {
        const workloads = { ...(exact && { exact }), ...(contains && { contains }) };
        const patterns = podPatterns(workloads).map((pattern) => new RegExp(`^(?:${pattern})$`, 'u'));
        const isNone = exact?.length === 0 || contains?.length === 0;
        expect(workloadMatcher(workloads)(pod)).to.equal(
          !isNone && patterns.every((pattern) => pattern.test(pod)),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  it('are found quickly for many workloads', () => {
    const texts = Array.from({ length: 1_000 }, (_, n) => `${'a'.repeat(1 + (n % 200))}${n}`);
    // A regular expression would take minutes.
    for (const how of ['exact', 'contains']) {
      const isOne = workloadMatcher({ [how]: texts });
      for (let n = 0; n < 500; n++) expect(isOne(`${'a'.repeat(45)}-${n}-5d78c9869d-x7k2p`)).to.equal(false);
    }
  });
});
