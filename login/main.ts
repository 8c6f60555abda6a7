// Command-line program that signs users in to a ks-apiserver, and credential plugin of kubectl. It runs on the user's
// machine, so it imports nothing from the server.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { UsageError, usageText } from '../apis/reading/command-line.ts';
import { messageOf } from '../apis/reading/thrown-value.ts';
import { LOGIN, parseArguments } from './arguments.ts';
import type { Program } from './sign-in.ts';

const clone = join(import.meta.dirname, '..');
const program: Program = {
  env: process.env,
  print: (line) => void process.stderr.write(`${line}\n`),
  plugin: { command: process.execPath, args: [import.meta.filename] },
  clone,
};

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  // kubectl starts this program for each command, so `get-token` loads only its own modules.
  switch (given.command) {
    case 'help':
      process.stdout.write(`${usageText(LOGIN)}\n`);
      return;
    case 'get-token': {
      const { getToken } = await import('./get-token.ts');
      return getToken(given, program);
    }
    case 'login': {
      const { login } = await import('./commands.ts');
      return login(given, program);
    }
    case 'logout': {
      const { logout } = await import('./commands.ts');
      return logout(given, program);
    }
  }
}

enableCompileCache(join(clone, 'node_modules/.cache/compile'));
// npm starts scripts in the clone, but the paths in the arguments are relative to the folder of the user.
const { INIT_CWD: folder, npm_lifecycle_event: npmScript } = process.env;
if (npmScript === 'login' && folder) process.chdir(folder);
try {
  await main();
} catch (error) {
  program.print(`ks-login: ${messageOf(error)}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
