import type { FinishedStage } from './stage.ts';
import { sum, type Tally, tallyLine } from './tally.ts';

/** A table of the stages, then what failed and its cure, then the sum in the last line. */
export function summary(finished: readonly FinishedStage[], total: Tally): string {
  const width = Math.max(...finished.map(({ stage }) => stage.name.length), 0);
  const rows = finished.map(
    ({ stage, tally, seconds }) =>
      `  ${stage.name.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s  ${tallyLine(tally)}`,
  );
  const failures = finished
    .filter(({ tally }) => tally.failed > 0)
    .flatMap(({ stage, problems }) => [
      `${stage.name} failed. Cure: ${stage.cure}`,
      ...problems.map((problem) => `  ${problem}`),
    ]);
  return [...rows, ...failures, ...emptiness(finished), tallyLine(total)].join('\n');
}

/** Why a run in which nothing was checked has failed. */
function emptiness(finished: readonly FinishedStage[]): string[] {
  const { passed, failed, skipped } = sum(finished.map(({ tally }) => tally));
  if (passed + failed > 0) return [];
  return [`nothing was checked: ${skipped > 0 ? 'every test was skipped' : 'no title matches'}`];
}

/**
 * What counts in the end. A run in which nothing was checked has failed, and so has, when `strict`, one that
 * skipped anything.
 */
export function verdict(
  finished: readonly FinishedStage[],
  strict: boolean,
): { total: Tally; exitCode: 0 | 1 } {
  const counted = sum(finished.map(({ tally }) => tally));
  const nothing = counted.passed + counted.failed === 0;
  const total = nothing ? { ...counted, failed: 1 } : counted;
  return { total, exitCode: total.failed > 0 || (strict && total.skipped > 0) ? 1 : 0 };
}
