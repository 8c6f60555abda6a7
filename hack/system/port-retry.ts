// Retries the start of a program with other ports if another process occupies a chosen port.
import { DaemonError } from './daemon.ts';

const ATTEMPTS = 3;

/** Retries a start with other ports if another process has occupied a port after it was chosen as free. */
export async function withPortRetry<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      const taken = error instanceof DaemonError && /address already in use/i.test(error.log);
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}
