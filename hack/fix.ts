// `npm run fix`: completes package-lock.json, and fixes lint, format and import order.
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './system/command.ts';
import { onStopSignal } from './system/stop-signal.ts';
import { runScript } from './terminal/script.ts';
import { parseCommandLine } from './terminal/usage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const USAGE = `Usage: npm run fix

Completes package-lock.json, applies the automatic fixes of oxlint, and formats all files.
Exits with 1 if problems remain that need a manual fix.
`;
const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  [process.execPath, 'hack/lockfile.mjs'],
  ['oxlint', '--type-aware', '--fix', '.'],
  ['biome', 'check', '--write', '.'],
];

async function main(): Promise<number> {
  const { values } = parseCommandLine({
    options: { help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
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
}

await runScript(main);
