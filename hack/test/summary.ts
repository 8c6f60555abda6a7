// Formats the results of all stages of `npm test`, and computes the overall result: passed or failed.
import type { FinishedStage } from './stage.ts';
import { sum, type Tally, tallyLine } from './tally.ts';

/** Number of processes in the list of the slowest. */
const SLOWEST = 10;

/** A table of the stages, the slowest processes, the failures with their cures, and the total in the last line. */
export function summary(finished: readonly FinishedStage[], total: Tally): string {
  const width = Math.max(...finished.map(({ stage }) => stage.name.length), 0);
  const rows = finished.map(
    ({ stage, tally, seconds, skipped }) =>
      `  ${stage.name.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s  ${skipped === undefined ? tallyLine(tally) : `skipped: ${skipped}`}`,
  );
  const failures = finished
    .filter(({ tally }) => tally.failed > 0)
    .flatMap(({ stage, problems }) => [
      `${stage.name} failed. Cure: ${stage.cure}`,
      ...problems.map((problem) => `  ${problem.replaceAll('\n', '\n  ')}`),
    ]);
  return [...rows, ...slowest(finished), ...failures, ...emptiness(finished), tallyLine(total)].join('\n');
}

/** The processes that took longest, of suites with several: they run in parallel, so the last one can delay the end. */
function slowest(finished: readonly FinishedStage[]): string[] {
  const durations = finished.flatMap(({ durations = [] }) => (durations.length > 1 ? durations : []));
  const longest = durations.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  if (longest.length === 0) return [];
  return [
    'slowest test processes:',
    ...longest.map(({ what, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${what}`),
  ];
}

/** The reason why a run without checks has failed. */
function emptiness(finished: readonly FinishedStage[]): string[] {
  const { passed, failed, skipped } = sum(finished.map(({ tally }) => tally));
  if (passed + failed > 0 || isSkipped(finished)) return [];
  return [`nothing was checked: ${skipped > 0 ? 'every test was skipped' : 'no title matches'}`];
}

/** Whether this machine can run none of the stages. */
function isSkipped(finished: readonly FinishedStage[]): boolean {
  return finished.length > 0 && finished.every(({ skipped }) => skipped !== undefined);
}

/** The overall result. A run without checks fails, and with `strict` also a run with skipped tests. */
export function verdict(
  finished: readonly FinishedStage[],
  strict: boolean,
): { total: Tally; exitCode: 0 | 1 } {
  const counted = sum(finished.map(({ tally }) => tally));
  const nothing = counted.passed + counted.failed === 0 && !isSkipped(finished);
  const total = nothing ? { ...counted, failed: 1 } : counted;
  return { total, exitCode: total.failed > 0 || (strict && total.skipped > 0) ? 1 : 0 };
}
