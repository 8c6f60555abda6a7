import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { hasCode } from './error-code.ts';

/**
 * Sends a signal to a process and everything it started. Programs are started
 * as leaders of a group of their own, so that Ctrl-C reaches them through us,
 * in our order. False when there is nobody left.
 */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}

const running = new Set<number>();

/**
 * process.exit() does not wait: a group that still runs then is killed on the way out. Call the returned function when
 * the group has ended.
 */
export function killAtExit(leader: number): () => void {
  if (running.size === 0) process.on('exit', killAll);
  running.add(leader);
  return () => {
    running.delete(leader);
    if (running.size === 0) process.removeListener('exit', killAll);
  };
}

function killAll(): void {
  for (const leader of running) signalGroup(leader, 'SIGKILL');
}

const END_WITH_PARENT = join(import.meta.dirname, 'end-with-parent.sh');

/**
 * Starts a program as the leader of a group that is killed when this process ends in whatever way, a kill of its own
 * included, and when the program has ended. A command that is not found ends with code 127.
 */
export function spawnWithUs(
  command: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    /** Where stdout and stderr go. */
    readonly output: 'inherit' | 'pipe';
  },
): ChildProcess {
  const { cwd, env, output } = options;
  const child = spawn('/bin/sh', [END_WITH_PARENT, command, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', output, output, 'pipe'],
  });
  const forget = child.pid === undefined ? undefined : killAtExit(child.pid);
  child.once('exit', () => {
    child.stdio[3]?.destroy();
    forget?.();
  });
  return child;
}
