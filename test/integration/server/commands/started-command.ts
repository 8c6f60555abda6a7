// Runs a command of ks-apiserver as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const MAIN = join(import.meta.dirname, '../../../../server/main.ts');

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandSetting {
  readonly cwd?: string;
  /** Added to an environment without a cluster. */
  readonly env?: NodeJS.ProcessEnv;
  /** Standard input; empty by default. */
  readonly input?: string;
}

export async function runCommand(args: readonly string[], setting: CommandSetting = {}): Promise<Ended> {
  const { cwd, env, input = '' } = setting;
  // A command that ignores its arguments would otherwise use the cluster of this machine.
  const inherited = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...inherited, HOME: '/nonexistent', ...env },
  });
  child.stdin.on('error', () => undefined).end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode ?? -1, stdout, stderr };
}
