import { expect } from 'chai';
import { LEVELS } from '../../../../../../../apis/logging/v1alpha2/log-query.ts';
import { levelTexts } from '../../../../../../../server/logging/backends/victorialogs/selection/text-filter.ts';
import { levelMatcher } from '../../../../../../../server/logging/matching/levels.ts';

describe('a filter for levels', () => {
  it('takes for enough what makes a line one of the level, whatever stands beside it', () => {
    for (const level of LEVELS) {
      const isMeant = levelMatcher([level]);
      for (const text of levelTexts([level])) {
        for (const beside of ['', ' ', 'a', '0', '_', '=', '"', 'é', '错']) {
          const line = `${beside}${text}${beside}`;
          expect(isMeant(line), `${level}: ${JSON.stringify(line)}`).to.equal(true);
        }
      }
    }
  });
});
