// Adds and formats the numbers of passed, failed and skipped tests. A check such as the linter counts as one test.

import { stripVTControlCharacters } from 'node:util';

/** Numbers of passed, failed and skipped tests. A check such as the linter counts as one test. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const NOTHING: Tally = { passed: 0, failed: 0, skipped: 0 };

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }),
    NOTHING,
  );
}

export function tallyLine(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`;
}

/** Returns true for the line of a passed test in the output of mocha, with or without colours. */
export function isPassedTest(line: string): boolean {
  return /^\s*✔ /.test(stripVTControlCharacters(line));
}
