import { expect } from 'chai';
import { LEVELS } from '../../../../../../../apis/logging/v1alpha2/log-query.ts';
import {
  levelFilter,
  levelTexts,
} from '../../../../../../../server/logging/backends/victorialogs/selection/text-filter.ts';
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

  it('looks for no more texts at once than the store looks for one by one, whatever the levels', () => {
    for (let set = 1; set < 2 ** LEVELS.length; set++) {
      const levels = LEVELS.filter((_, n) => set & (1 << n));
      const patterns = [
        ...levelFilter('_msg', levels)
          .exact.join(' ')
          .matchAll(/"_msg":~"([^"]*)"/g),
      ];
      const ofWords = patterns.map(([, pattern = '']) => pattern).filter((pattern) => !pattern.includes('('));
      expect(ofWords).to.have.length.above(1);
      for (const pattern of ofWords) {
        expect(pattern.split('|').length, `${levels.join()}: ${pattern}`).to.be.at.most(100);
      }
    }
  });
});
