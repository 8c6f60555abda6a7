import { expect } from 'chai';
import { LEVELS, type Level } from '../../../../../../../apis/logging/v1alpha2/log-query.ts';
import { FieldMap } from '../../../../../../../server/logging/backends/opensearch/fields/field-map.ts';
import {
  type Clause,
  MAX_REGEX_LENGTH,
} from '../../../../../../../server/logging/backends/opensearch/searches/clause.ts';
import { levelClause } from '../../../../../../../server/logging/backends/opensearch/selection/level-clauses.ts';
import { FIELDS } from '../../../../../../support/logging/opensearch-store.ts';
import { CAPABILITIES } from '../scripted-store.ts';

const SOME: readonly (readonly Level[])[] = [...LEVELS.map((level) => [level]), ['error', 'fatal'], LEVELS];
/** Of terminals; there may be none. */
const COLOURS = '(\u001b\\[[0-9;]*m)*';

/** What is asked of lines as they stand, unless another clause has excluded most of them already. */
function patternsAlone(levels: readonly Level[]): string[] {
  const fields = FieldMap.read(FIELDS, CAPABILITIES);
  if (!fields) throw new Error('there are no fields');
  const { bool } = levelClause(levels, fields).clause as { bool: { should: Clause[] } };
  return bool.should.flatMap((clause) => ('regexp' in clause ? patternsIn(clause) : []));
}

function patternsIn(clause: unknown): string[] {
  if (typeof clause !== 'object' || clause === null) return [];
  return Object.entries(clause).flatMap(([key, value]) =>
    key === 'value' && typeof value === 'string' ? [value] : patternsIn(value),
  );
}

describe('a level, as it is asked of OpenSearch', () => {
  for (const levels of SOME) {
    it(`has the index exclude lines that do not begin like ${levels.join(' or ')}, by texts of three characters`, () => {
      const patterns = patternsAlone(levels);
      expect(patterns).to.have.length.above(2);
      for (const pattern of patterns) {
        const alternatives = /^\(([^()]+)\)/.exec(pattern.replace(COLOURS, ''))?.[1]?.split('|') ?? [''];
        const texts = alternatives.map((alternative) => alternative.replaceAll('\\', ''));
        expect(
          texts.filter((text) => text.length < 3),
          pattern,
        ).to.deep.equal([]);
      }
    });

    it(`is no longer pattern than indices take, of ${levels.join(', ')}`, () => {
      const fields = FieldMap.read(FIELDS, CAPABILITIES);
      if (!fields) throw new Error('there are no fields');
      const lengths = patternsIn(levelClause(levels, fields).clause).map((pattern) => pattern.length);
      expect(Math.max(...lengths)).to.be.at.most(MAX_REGEX_LENGTH);
    });
  }
});
