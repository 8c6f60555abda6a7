// Tests of the VictoriaLogs queries that log queries become.
import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import { LEVELS } from '../../../../../../apis/logging/v1alpha2/log-query.ts';
import { commonForms } from '../../../../../../server/logging/backends/victorialogs/line-filters.ts';
import { quoted } from '../../../../../../server/logging/backends/victorialogs/logsql.ts';
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
});
