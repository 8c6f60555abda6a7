// Tests of the VictoriaLogs queries that log queries become.
import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import { LEVELS } from '../../../../../../apis/logging/v1alpha2/log-query.ts';
import {
  commonForms,
  levelFilter,
} from '../../../../../../server/logging/backends/victorialogs/line-filters.ts';
import { quoted, since, within } from '../../../../../../server/logging/backends/victorialogs/logsql.ts';
import { levelMatcher } from '../../../../../../server/logging/matching/levels.ts';

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

describe('the query of a selection', () => {});

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
