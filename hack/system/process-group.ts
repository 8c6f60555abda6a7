// Starts and signals process groups of child processes. The groups receive SIGKILL at the exit of this process.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { hasCode } from './error-code.ts';

/**
 * Sends a signal to a process group. Programs are group leaders, so that Ctrl-C reaches them only through this process
 * and in its order. Returns false if the group has no process.
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

/** Kills the group when this process exits. Call the returned function when the group has exited. */
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
 * Starts a program as the leader of a group that is killed when the program exits and when this process dies, SIGKILL
 * included. Exit code 127 means that the command was not found.
 */
export function spawnWithUs(
  command: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    /** Destination of stdout and stderr. */
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
