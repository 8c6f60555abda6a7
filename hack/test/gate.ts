import { runCommand } from '../system/command.ts';
import { failedWith, type Stage } from './stage.ts';

/**
 * Returns a stage of `npm test` that runs a check such as the linter. The stage fails if the exit code is not 0, and
 * prints the output of the failed check.
 */
export function gate(options: {
  name: string;
  command: readonly [string, ...string[]];
  cure: string;
}): Stage {
  const [program, ...args] = options.command;
  return {
    name: options.name,
    kind: 'gate',
    cure: options.cure,
    async run({ root, env, signal, print }) {
      const {
        code,
        signal: killedBy,
        output,
      } = await runCommand(program, args, {
        cwd: root,
        env,
        signal,
        output: 'collect',
      });
      if (code === 0) return { tally: { passed: 1, failed: 0, skipped: 0 }, problems: [] };
      print(output.trimEnd());
      return failedWith(`${program} ended with ${killedBy ?? `code ${code}`}`);
    },
  };
}
