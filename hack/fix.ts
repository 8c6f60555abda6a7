// `npm run fix`: completes package-lock.json, and fixes lint, format and import order.
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandLine } from '../apis/reading/command-line.ts';
import { runCommand } from './system/command.ts';
import { onStopSignal } from './system/stop-signal.ts';
import { runScript } from './terminal/script.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const LINE: CommandLine = {
  command: 'npm run fix',
  usage: [''],
  about: `Completes package-lock.json, applies the automatic fixes of oxlint, and formats all files.
Exits with 1 if problems remain that need a manual fix.`,
  flags: {},
};
const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  [process.execPath, 'hack/lockfile.mjs'],
  ['oxlint', '--type-aware', '--fix', '.'],
  ['biome', 'check', '--write', '.'],
];

await runScript(LINE, async () => {
  const signal = onStopSignal();
  const env = {
    ...process.env,
    PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  let exitCode = 0;
  for (const [program, ...args] of COMMANDS) {
    const { code } = await runCommand(program, args, { cwd: root, env, signal, output: 'inherit' });
    if (code === 0) continue;
    console.error(`${program} reports problems that need a manual fix: see above.`);
    exitCode = 1;
  }
  return exitCode;
});
