// `npm run fix`: mends what programs can mend by themselves: the lock file, lint, format and the order of imports.
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killAll, runCommand } from './command.ts';
import { onStopSignal, Stopped } from './stop-signal.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  [process.execPath, 'hack/lockfile.mjs'],
  ['oxlint', '--type-aware', '--fix', '.'],
  ['biome', 'check', '--write', '.'],
];

const signal = onStopSignal(killAll);
const env = {
  ...process.env,
  PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
};
try {
  for (const [program, ...args] of COMMANDS) {
    const { code } = await runCommand(program, args, { cwd: root, env, signal, output: 'inherit' });
    if (code !== 0) {
      console.error(`${program} left something that it cannot mend: see above.`);
      process.exitCode = 1;
    }
  }
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
  process.exitCode = error.exitCode;
}
