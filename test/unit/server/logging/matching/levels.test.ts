import { expect } from 'chai';
import { RE2JS } from 're2js';
import { LEVELS, type Level } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { levelMatcher, levelPattern } from '../../../../../server/logging/matching/levels.ts';

const CASES: readonly (readonly [line: string, levels: readonly Level[]])[] = [
  ['{"level":"error","msg":"no"}', ['error']],
  ['ts=1 level=warn msg="an INFO"', ['info', 'warn']],
  ["lvl: 'Critical'", ['fatal']],
  ['log_level=ERR', ['error']],
  ['sublevel=error', []],
  ['level=errors', []],
  ['E0102 12:00:00 x.go:1] y', ['error']],
  ['I01020 x', []],
  [' W0102 x', []],
  ['F0102', ['fatal']],
  ['an ERROR here', ['error']],
  ['ERRORS', []],
  ['no error here', []],
  ['[TRACE] x', ['debug']],
  ['2026 WARNING: x', ['warn']],
  ['', []],
];

describe('the level of a line', () => {
  for (const [line, levels] of CASES) {
    it(`${JSON.stringify(line)} is ${levels.join(', ') || 'none'}`, () => {
      expect(LEVELS.filter((level) => levelMatcher([level])(line))).to.deep.equal(levels);
      expect(LEVELS.filter((level) => RE2JS.compile(levelPattern([level])).test(line))).to.deep.equal(levels);
    });
  }

  it('is one of several when several are asked for', () => {
    const matches = levelMatcher(['error', 'fatal']);
    expect(['level=err', 'level=panic', 'level=warn'].map(matches)).to.deep.equal([true, true, false]);
  });
});
