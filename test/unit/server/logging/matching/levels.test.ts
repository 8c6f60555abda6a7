// Tests of the detection of log levels.
import { expect } from 'chai';
import { RE2JS } from 're2js';
import { LEVELS, type Level } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { levelMatcher, levelPatterns } from '../../../../../server/logging/matching/levels.ts';

/** Lines by their levels. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  debug: [
    '[TRACE] x',
    // .NET
    ...['dbug: Shop.Orders[0]', 'trce: Shop.Orders[0]'],
    // logrus and charm
    ...['DEBU x', 'TRAC x'],
    '{"time":1,"level":20}',
  ],
  info: ['info: x', '{"level":30,"time":1}', '\u001b[36mINFO\u001b[0m[0001] x'],
  'info,warn': ['ts=1 level=warn msg="an INFO"'],
  warn: [
    '2026 WARNING: x',
    // Apache, MySQL and zerolog
    '[Fri Nov 20 10:00:00 2026] [proxy_http2:warn] [pid 35] x',
    '2026-11-20T10:00:00.1Z 0 [Warning] [MY-010068] [Server] x',
    ...['10:00AM WRN x', 'warning:', '\u001b[1;33mlevel=warn\u001b[0m'],
  ],
  error: [
    ...['{"level":"error","msg":"no"}', 'log_level=ERR', 'E0102 12:00:00 x.go:1] y', 'an ERROR here'],
    // nginx and java.util.logging
    ...['2026/11/20 10:00:00 [error] 31#31: *1 open() failed', 'SEVERE: x', '[error    ] padded'],
    // With colours, as for terminals
    '2026-11-20T10:00:00Z\t\u001b[31mERROR\u001b[0m\tmain.go:7',
    '\u001b[41m\u001b[30mfail\u001b[39m\u001b[22m\u001b[49m: Shop.Orders[0]',
    '\u001b[31mERRO\u001b[0m[0001] x',
    // .NET, winston, and what programs print
    ...['fail: Shop.Orders[0]', 'Error: x', 'erro: x', '--- FAIL: TestOrders', 'ERRO[0001] x'],
    // pino and bunyan
    '{"level":50',
  ],
  fatal: [
    ...["lvl: 'Critical'", 'F0102', '[10:00:00 FTL] x', 'crit: Shop.Orders[0]', 'panic: runtime error'],
    // nginx and PostgreSQL
    '2026/11/20 10:00:00 [emerg] 1#1: no "events" section',
    '2026-11-20 10:00:00 UTC [25] FATAL:  role "x" does not exist',
    ...['FATA x', 'PANI[0000] x'],
  ],
  '': [
    ...['', 'sublevel=error', 'level=errors', 'I01020 x', ' W0102 x', 'ERRORS', 'no error here', 'ERROS x'],
    ...['[error code 5]', '[Core:error]', '[eRROR]', '[errors]', '\u001b[31xERROR', '[31mERROR', 'error:x'],
    ...['eRROR: x', 'they fail: x', 'failed: x', 'level=fail', '\u001b[1;33mlevel\u001b[0m=warn'],
    ...['{"level":500}', '{"level":35}', 'level=50', '{"xlevel":50}'],
  ],
};

describe('the level of a line', () => {
  for (const [levels, lines] of Object.entries(CASES)) {
    for (const line of lines) {
      it(`${JSON.stringify(line)} is ${levels || 'none'}`, () => {
        const levelsBy = (matches: (level: Level) => boolean) => LEVELS.filter(matches).join();
        expect(levelsBy((level) => levelMatcher([level])(line))).to.equal(levels);
        const patterns = (level: Level) => levelPatterns([level]).map((each) => RE2JS.compile(each));
        expect(levelsBy((level) => patterns(level).some((each) => each.test(line)))).to.equal(levels);
      });
    }
  }

  it('matches one of several requested levels', () => {
    const matches = levelMatcher(['error', 'fatal']);
    expect(['level=err', 'level=panic', 'level=warn'].map(matches)).to.deep.equal([true, true, false]);
  });
});
