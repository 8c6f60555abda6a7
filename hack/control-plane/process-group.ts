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
