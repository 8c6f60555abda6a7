// Tests of the detection of log levels.
import { expect } from 'chai';
import { RE2JS } from 're2js';
import { LEVELS, type Level } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { levelMatcher, levelPatterns } from '../../../../../server/logging/matching/levels.ts';

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
  // nginx and Apache, MySQL, PostgreSQL, java.util.logging, zerolog and Serilog
  ['2026/11/20 10:00:00 [error] 31#31: *1 open() failed', ['error']],
  ['2026/11/20 10:00:00 [emerg] 1#1: no "events" section', ['fatal']],
  ['[Fri Nov 20 10:00:00 2026] [proxy_http2:warn] [pid 35] x', ['warn']],
  ['2026-11-20T10:00:00.1Z 0 [Warning] [MY-010068] [Server] x', ['warn']],
  ['2026-11-20 10:00:00 UTC [25] FATAL:  role "x" does not exist', ['fatal']],
  ['SEVERE: x', ['error']],
  ['10:00AM WRN x', ['warn']],
  ['[10:00:00 FTL] x', ['fatal']],
  ['[error    ] padded', ['error']],
  ['[error code 5]', []],
  ['[Core:error]', []],
  ['[eRROR]', []],
  ['[errors]', []],
  // With colours, as for terminals
  ['2026-11-20T10:00:00Z\t\u001b[31mERROR\u001b[0m\tmain.go:7', ['error']],
  ['\u001b[36mINFO\u001b[0m[0001] x', ['info']],
  ['\u001b[1;33mlevel\u001b[0m=warn', []],
  ['\u001b[1;33mlevel=warn\u001b[0m', ['warn']],
  ['\u001b[31xERROR', []],
  ['[31mERROR', []],
  // .NET, winston, and what programs print
  ['fail: Shop.Orders[0]', ['error']],
  ['dbug: Shop.Orders[0]', ['debug']],
  ['trce: Shop.Orders[0]', ['debug']],
  ['crit: Shop.Orders[0]', ['fatal']],
  ['info: x', ['info']],
  ['Error: x', ['error']],
  ['panic: runtime error', ['fatal']],
  ['warning:', ['warn']],
  ['\u001b[41m\u001b[30mfail\u001b[39m\u001b[22m\u001b[49m: Shop.Orders[0]', ['error']],
  ['error:x', []],
  ['eRROR: x', []],
  ['they fail: x', []],
  ['failed: x', []],
  ['level=fail', []],
  ['erro: x', ['error']],
  ['--- FAIL: TestOrders', ['error']],
  // logrus and charm
  ['ERRO[0001] x', ['error']],
  ['\u001b[31mERRO\u001b[0m[0001] x', ['error']],
  ['FATA x', ['fatal']],
  ['PANI[0000] x', ['fatal']],
  ['DEBU x', ['debug']],
  ['TRAC x', ['debug']],
  ['ERROS x', []],
  // pino and bunyan
  ['{"level":30,"time":1}', ['info']],
  ['{"time":1,"level":20}', ['debug']],
  ['{"level":50', ['error']],
  ['{"level":500}', []],
  ['{"level":35}', []],
  ['level=50', []],
  ['{"xlevel":50}', []],
];

describe('the level of a line', () => {
  for (const [line, levels] of CASES) {
    it(`${JSON.stringify(line)} is ${levels.join(', ') || 'none'}`, () => {
      expect(LEVELS.filter((level) => levelMatcher([level])(line))).to.deep.equal(levels);
      expect(
        LEVELS.filter((level) => levelPatterns([level]).some((each) => RE2JS.compile(each).test(line))),
      ).to.deep.equal(levels);
    });
  }

  it('matches one of several requested levels', () => {
    const matches = levelMatcher(['error', 'fatal']);
    expect(['level=err', 'level=panic', 'level=warn'].map(matches)).to.deep.equal([true, true, false]);
  });
});
