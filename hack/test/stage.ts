// Types of the stages of `npm test`, and of their results.
import type { Progress } from '../terminal/progress.ts';
import type { Tally } from './tally.ts';

/** One step of `npm test`. The result contains the failures; `run` throws only if interrupted. */
export interface Stage {
  readonly name: string;
  readonly kind: 'gate' | 'suite';
  /** Command or advice to print after a failure. */
  readonly cure: string;
  run(context: StageContext): Promise<StageResult>;
}

export interface StageContext {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Called when the last process of the stage starts: the next stage can use the jobs that are free. */
  readonly lastStarted: () => void;
}

export interface StageResult {
  readonly tally: Tally;
  /** The failed tests, then problems that no test reports. */
  readonly problems: readonly string[];
  /** Of a suite: since the start of its first process. */
  readonly seconds?: number;
  /** Of the processes of a suite. */
  readonly durations?: readonly Duration[];
  /** Why this machine cannot run the stage. Unlike a skipped test, this is no failure on a build machine. */
  readonly skipped?: string;
}

export interface Duration {
  /** The first file, and the number of the others. */
  readonly what: string;
  readonly seconds: number;
}

export interface FinishedStage extends StageResult {
  readonly stage: Stage;
  readonly seconds: number;
}

export function failedWith(problem: string): StageResult {
  return { tally: { passed: 0, failed: 1, skipped: 0 }, problems: [problem] };
}
