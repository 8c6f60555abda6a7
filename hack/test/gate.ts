import { runCommand } from '../system/command.ts';
import type { Jobs } from './jobs.ts';
import { failedWith, type Stage, type StageContext, type StageResult } from './stage.ts';

/**
 * Returns a stage of `npm test` that runs a check such as the linter. The stage fails if the exit code is not 0, and
 * prints the output of the failed check.
 */
export function gate(options: {
  name: string;
  /** Run one after the other, until one fails. */
  commands: readonly (readonly [string, ...string[]])[];
  cure: string;
  jobs: Jobs;
}): Stage {
  const { commands } = options;
  return {
    name: options.name,
    kind: 'gate',
    cure: options.cure,
    run: (context) =>
      options.jobs.run(() => {
        context.lastStarted();
        return runCommands(commands, context);
      }),
  };
}

async function runCommands(
  commands: readonly (readonly [string, ...string[]])[],
  { root, env, signal, progress }: StageContext,
): Promise<StageResult> {
  for (const [program, ...args] of commands) {
    const result = await runCommand(program, args, { cwd: root, env, signal, output: 'collect' });
    if (result.code === 0) continue;
    progress(result.output.trimEnd());
    return failedWith(`${program} ended with ${result.signal ?? `code ${result.code}`}`);
  }
  return { tally: { passed: 1, failed: 0, skipped: 0 }, problems: [] };
}
