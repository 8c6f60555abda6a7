import { parseCommandLine, UsageError, wholeNumber } from '../terminal/usage.ts';

export interface TestArguments {
  /** Names of stages; empty means all of them. */
  readonly stages: readonly string[];
  readonly grep: string | undefined;
  /** Test files that run at the same time. */
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
    throw new UsageError(`there is no stage ${unknown}; there are ${known.join(', ')}`);
  }
  const jobs = values.jobs === undefined ? undefined : wholeNumber('--jobs', values.jobs, 1, 99);
  return { stages: positionals, grep: values.grep, jobs, help: values.help };
}

/** Of `npm test`, or of a script that names `stages` itself, such as `npm run check`. */
export function testHelp(known: readonly string[], script = 'test', stages: readonly string[] = []): string {
  const own = script !== 'test';
  return [
    `Usage: npm ${own ? `run ${script}` : script} -- [STAGE ...] [--grep TITLE]`,
    '',
    `Stages: ${known.join(', ')}; ${own ? `here ${stages.join(', ')}, and those that are named` : 'all of them when none is named'}.`,
    '  -g, --grep TITLE   only the tests whose title matches, and no gates',
    '  --jobs N           so many test files at a time; with 1 integration and e2e tests may leave nothing open either',
    '  -h, --help         this text',
    '',
    'With CI=true a skipped test is a failure. The last line is the sum of all stages.',
  ].join('\n');
}
