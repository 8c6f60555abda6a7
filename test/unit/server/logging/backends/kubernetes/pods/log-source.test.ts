import { expect } from 'chai';
import {
  compareSources,
  type Named,
} from '../../../../../../../server/logging/backends/kubernetes/pods/log-source.ts';

describe('the order of logs', () => {
  it('is that of namespaces, then of pods, then of containers, and the earlier run comes first', () => {
    const sorted: Named[] = ['a', 'b'].flatMap((namespace) =>
      ['a', 'b'].flatMap((pod) =>
        ['a', 'b'].flatMap((container) =>
          [true, false].map((previous) => ({ namespace, pod, container, previous })),
        ),
      ),
    );
    for (const [first, one] of sorted.entries()) {
      for (const [second, other] of sorted.entries()) {
        expect(Math.sign(compareSources(one, other))).to.equal(Math.sign(first - second));
      }
    }
  });
});
