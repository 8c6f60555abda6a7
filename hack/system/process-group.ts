import { spawn } from 'node:child_process';
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

/** Waits until its standard input is closed, which the system does for whoever is killed, and then kills the group. */
const WATCHER = 'read -r nothing; kill -s KILL -- "-$1"';

/**
 * Has the group killed when this process ends in whatever way, a kill of its own included. For programs that can not
 * notice that themselves. Call the returned function when the group has ended.
 */
export function killWithUs(leader: number): () => void {
  const forget = killAtExit(leader);
  const watcher = spawn('sh', ['-c', WATCHER, 'sh', String(leader)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell it is not watched, and all else is as before.
  watcher.once('error', () => undefined);
  watcher.unref();
  return () => {
    watcher.kill('SIGKILL');
    forget();
  };
}
