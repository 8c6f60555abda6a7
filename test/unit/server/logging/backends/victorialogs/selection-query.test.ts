// Tests of the VictoriaLogs queries that log queries become.
import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import { LEVELS } from '../../../../../../apis/logging/v1alpha2/log-query.ts';
import {
  commonForms,
  levelFilter,
} from '../../../../../../server/logging/backends/victorialogs/line-filters.ts';
import { quoted, since, within } from '../../../../../../server/logging/backends/victorialogs/logsql.ts';
import {
  type Query,
  SelectionQuery,
} from '../../../../../../server/logging/backends/victorialogs/selection-query.ts';
import type { Scope, Selection } from '../../../../../../server/logging/log-store.ts';
import { levelMatcher } from '../../../../../../server/logging/matching/levels.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';

const RANGE = { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' };
const ALL: Selection = { scope: { everything: true }, range: RANGE };

function queryOf(part: Partial<Selection>): Query {
  const selection = { ...ALL, ...part };
  const found = new SelectionQuery(selection, FIELDS).within(selection.range);
  if (!found) throw new Error('nothing can match');
  return found;
}

function scope(...namespaces: readonly (readonly [name: string, since: string])[]): Scope {
  return { everything: false, namespaces: namespaces.map(([name, since]) => ({ name, since })) };
}

describe('LogsQL', () => {
  /** The escapes of JSON that strconv.Unquote of Go accepts between double quotes. */
  const GO_STRING = /^"(?:[^"\\\n]|\\(?:[bfnrt"\\]|u(?!d[89a-f])[0-9a-f]{4}))*"$/;

  it('quotes any text as one token', () => {
    assert(
      property(string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(quoted(text)).to.match(GO_STRING);
        expect(JSON.parse(quoted(text))).to.equal(text);
      }),
    );
    expect(quoted('a\ud800"')).to.equal('"a\ufffd\\""');
  });

  it('limits times to the range of the store', () => {
    const range = { start: '2026-01-01T00:00:00.000000001Z', end: '2286-11-20T17:46:40.000000000Z' };
    expect(within(range)).to.equal('_time:[2026-01-01T00:00:00.000000001Z,2262-04-11T23:47:16.854775807Z)');
    expect(since(range.start)).to.equal('_time:>=2026-01-01T00:00:00.000000001Z');
  });
});

describe('the query of a selection', () => {
  it('groups 1,500 namespaces that were created within the range', () => {
    const many = Array.from(
      { length: 1_500 },
      (_, index) => [`n${index}`, `${RANGE.start.slice(0, 19)}.000000001Z`] as const,
    );
    const [, filter = ''] = queryOf({ scope: scope(...many) }).extraFilters;
    expect(filter.split('in(').length - 1).to.equal(39);
    expect(filter.split('_time:>=').length - 1).to.equal(1_500);
  });

  it('is undefined when no record can match', () => {
    const nothing: Partial<Selection>[] = [
      { pods: { exact: [] } },
      { containers: { contains: [] } },
      { workloads: { exact: [] } },
      { namespaces: { exact: [] } },
      { levels: [] },
      { text: { mode: 'phrase', texts: ['},'], caseSensitive: false } },
      { range: { start: RANGE.end, end: RANGE.end } },
      { range: { start: RANGE.end, end: RANGE.start } },
      { scope: scope() },
      { scope: scope(['a', RANGE.end]) },
    ];
    for (const part of nothing) {
      const selection = { ...ALL, ...part };
      const query = new SelectionQuery(selection, FIELDS);
      expect(query.within(selection.range), JSON.stringify(part)).to.equal(undefined);
      expect(query.withinByName(selection.range), JSON.stringify(part)).to.equal(undefined);
    }
  });
});

describe('filters for the text of lines', () => {
  it('accept a common form of a level next to any character', () => {
    for (const level of LEVELS) {
      const matches = levelMatcher([level]);
      for (const form of commonForms([level])) {
        for (const other of ['', ' ', 'a', '0', '_', '=', '"', 'é', '错']) {
          const line = `${other}${form}${other}`;
          expect(matches(line), `${level}: ${JSON.stringify(line)}`).to.equal(true);
        }
      }
    }
  });

  it('have at most the 100 literal alternatives that the store searches as plain text', () => {
    for (let set = 1; set < 2 ** LEVELS.length; set++) {
      const levels = LEVELS.filter((_, n) => set & (1 << n));
      const patterns = [...levelFilter('_msg', levels).matchAll(/"_msg":~"([^"]*)"/g)]
        .map(([, pattern = '']) => pattern)
        .filter((pattern) => !pattern.includes('('));
      expect(patterns).to.have.length.above(1);
      for (const pattern of patterns) {
        expect(pattern.split('|').length, `${levels.join()}: ${pattern}`).to.be.at.most(100);
      }
    }
  });
});
