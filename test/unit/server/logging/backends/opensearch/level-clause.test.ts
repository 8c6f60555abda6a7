// Tests of the query clause for log levels.
import { expect } from 'chai';
import { LEVELS, type Level } from '../../../../../../apis/logging/v1alpha2/log-query.ts';
import {
  type Clause,
  MAX_REGEX_LENGTH,
} from '../../../../../../server/logging/backends/opensearch/clauses.ts';
import { levelClause } from '../../../../../../server/logging/backends/opensearch/level-clause.ts';

const SOME: readonly (readonly Level[])[] = [...LEVELS.map((level) => [level]), ['error', 'fatal'], LEVELS];
/** Of terminals; there may be none. */
const COLOURS = '(\u001b\\[[0-9;]*m)*';

function patternsIn(clause: unknown): string[] {
  if (typeof clause !== 'object' || clause === null) return [];
  return Object.entries(clause).flatMap(([key, value]) =>
    key === 'value' && typeof value === 'string' ? [value] : patternsIn(value),
  );
}

describe('the clause for a level', () => {
  for (const levels of SOME) {
    it(`begins its patterns with literal text for n-grams, for ${levels.join(', ')}`, () => {
      const { bool } = levelClause(levels, 'log.wildcard', 'log') as { bool: { should: Clause[] } };
      const patterns = bool.should.flatMap((clause) => ('regexp' in clause ? patternsIn(clause) : []));
      expect(patterns).to.have.length.above(1);
      for (const pattern of patterns) {
        const alternatives = /^\(([^()]+)\)/.exec(pattern.replace(COLOURS, ''))?.[1]?.split('|') ?? [''];
        const tooShort = alternatives.filter((text) => text.replaceAll('\\', '').length < 3);
        expect(tooShort, pattern).to.deep.equal([]);
      }
    });

    it(`has no pattern longer than an index accepts, for ${levels.join(', ')}`, () => {
      const lengths = patternsIn(levelClause(levels, 'log.wildcard', 'log')).map(({ length }) => length);
      expect(Math.max(...lengths)).to.be.at.most(MAX_REGEX_LENGTH);
    });
  }
});
