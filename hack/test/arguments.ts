// Parser of the command line of `npm test` and `npm run check`.
import { parseCommandLine, UsageError, wholeNumber } from '../terminal/usage.ts';

export interface TestArguments {
  /** Names of stages; empty for all. */
  readonly stages: readonly string[];
  readonly grep: string | undefined;
  /** Number of test files that run in parallel. */
  readonly jobs: number | undefined;
  readonly help: boolean;
}

/** Throws UsageError. */
export function parseTestArguments(args: readonly string[], known: readonly string[]): TestArguments {
  const { values, positionals } = parseCommandLine({
    args: [...args],
    allowPositionals: true,
    options: {
      grep: { type: 'string', short: 'g' },
      jobs: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`unknown stage ${unknown}; the stages are ${known.join(', ')}`);
  }
  const jobs = values.jobs === undefined ? undefined : wholeNumber('--jobs', values.jobs, 1, 99);
  return { stages: positionals, grep: values.grep, jobs, help: values.help };
}

/** Help text of `npm test`, or of a script with fixed `stages`, such as `npm run check`. */
export function testHelp(known: readonly string[], script = 'test', stages: readonly string[] = []): string {
  const own = script !== 'test';
  return [
    `Usage: npm ${own ? `run ${script}` : script} -- [STAGE ...] [--grep TITLE]`,
    '',
    `Stages: ${known.join(', ')}; ${own ? `here ${stages.join(', ')}, and those given` : 'all by default'}.`,
    '  -g, --grep TITLE   only tests whose title matches, without types, lint, format, lockfile, dependencies and generated',
    '  --jobs N           number of parallel test files; with 1, integration and e2e tests must not leave open handles',
    '  -h, --help         this text',
    '',
    'With CI=true a skipped test is a failure. The last line is the sum of all stages.',
  ].join('\n');
}
