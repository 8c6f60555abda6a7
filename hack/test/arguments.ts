import { parseArgs } from 'node:util';

export interface TestArguments {
  /** Names of stages; empty means all of them. */
  readonly stages: readonly string[];
  readonly grep: string | undefined;
  readonly help: boolean;
}

/** Throws with one line for the user when something is unknown. */
export function parseTestArguments(args: readonly string[], known: readonly string[]): TestArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { grep: { type: 'string', short: 'g' }, help: { type: 'boolean', short: 'h', default: false } },
  });
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`There is no stage '${unknown}'; there are ${known.join(', ')}.`);
  }
  return { stages: positionals, grep: values.grep, help: values.help };
}

export function testHelp(known: readonly string[]): string {
  return [
    'Usage: npm test -- [STAGE ...] [--grep TITLE]',
    '',
    `Stages: ${known.join(', ')}; all of them when none is named.`,
    '  -g, --grep TITLE   only the tests whose title matches, and no gates',
    '  -h, --help         this text',
    '',
    'With CI=true a skipped test is a failure. The last line is the sum of all stages.',
  ].join('\n');
}
