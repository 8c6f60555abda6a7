// Command line of `npm test` and of the scripts that run some of its stages, such as `npm run check`.
import {
  type Arguments,
  type CommandLine,
  UsageError,
  wholeNumber,
} from '../../apis/reading/command-line.ts';

interface TestArguments {
  /** Names of stages; empty for all. */
  readonly stages: readonly string[];
  readonly grep: string | undefined;
  /** Number of processes that run tests in parallel. */
  readonly jobs: number | undefined;
}

const FLAGS = {
  grep: {
    short: 'g',
    value: 'TITLE',
    description:
      'only tests whose title matches, without types, lint, format, lockfile, dependencies and generated',
  },
  jobs: {
    value: 'N',
    description: 'number of processes that run tests in parallel',
  },
} as const;

/** `known`: names of the stages. */
export function testCommandLine(known: readonly string[]): CommandLine<typeof FLAGS> {
  return {
    command: 'npm test --',
    usage: ['[STAGE ...] [--grep TITLE] [--jobs N]'],
    about: `Stages: ${known.join(', ')}; all by default.
npm run check and npm run verify run their own stages and those given.`,
    flags: FLAGS,
    notes: 'With CI=true a skipped test is a failure. The last line is the sum of all stages.',
    maxArguments: known.length,
  };
}

/** Throws UsageError. */
export function readTestArguments(
  { values, positionals }: Arguments<typeof FLAGS>,
  known: readonly string[],
): TestArguments {
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`unknown stage ${unknown}; the stages are ${known.join(', ')}`);
  }
  const jobs = values.jobs === undefined ? undefined : wholeNumber('--jobs', values.jobs, 1, 99);
  return { stages: positionals, grep: values.grep, jobs };
}
