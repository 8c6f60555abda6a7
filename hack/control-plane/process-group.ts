import { hasCode } from '../error-code.ts';

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
    if (hasCode(error, 'ESRCH')) {
      return false;
    }
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
