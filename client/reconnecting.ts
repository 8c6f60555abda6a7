// Streams that reconnect: back-off with jitter, Retry-After, and a state that a page can show.
import { ConnectionError, isTemporary, StatusError } from './status-error.ts';

/** State of the connection of a stream. */
export type Connection =
  | { readonly state: 'open' }
  /** The server has ended the connection, for example because it restarts. The stream connects again at once. */
  | { readonly state: 'closed' }
  /** `retryAt`: when the stream reconnects, in milliseconds since the epoch. */
  | { readonly state: 'waiting'; readonly error: Error; readonly retryAt: number };

export interface StreamOptions {
  /** Ends the stream: the iteration ends without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the stream has connected, when the server has ended the connection, and after an error, before it waits. */
  readonly onConnection?: ((connection: Connection) => void) | undefined;
}

/** One connection of a stream. It calls `opened` when the server has accepted it. */
export type Connect<T> = (signal: AbortSignal, opened: () => void) => AsyncIterable<T>;

const FIRST_PAUSE = 1000;
const MAX_PAUSE = 15_000;
/** Of a server that names the time. Also keeps timers from their maximum of 24 days, past which they expire at once. */
const MAX_RETRY_AFTER = 3_600_000;

/**
 * The items of a stream. Connects again after the end of a connection, and after errors that a retry can help; throws
 * any other error. `connect` keeps the position of the stream itself.
 */
export async function* reconnecting<T>(
  connect: Connect<T>,
  { signal, onConnection }: StreamOptions = {},
): AsyncGenerator<T, void, undefined> {
  // Without a signal of the caller, only the end of the iteration ends the stream.
  const ended = signal ?? new AbortController().signal;
  let failures = 0;
  while (!ended.aborted) {
    let error: Error | undefined;
    let openedAt: number | undefined;
    const opened = (): void => {
      if (openedAt !== undefined) return;
      openedAt = Date.now();
      onConnection?.({ state: 'open' });
    };
    try {
      for await (const item of connect(ended, opened)) {
        failures = 0;
        yield item;
        if (ended.aborted) return;
      }
    } catch (cause) {
      if (ended.aborted) return;
      if (!isTemporary(cause)) throw cause;
      error = cause;
    }
    // A quiet stream whose connection was open for a while has not failed.
    if (openedAt !== undefined && Date.now() - openedAt > MAX_PAUSE) failures = 0;
    failures += 1;
    const retryAfter = error instanceof StatusError ? (error.retryAfter ?? 0) * 1000 : 0;
    const pause = Math.max(pauseAfter(failures), Math.min(retryAfter, MAX_RETRY_AFTER));
    // A server that restarts ends its streams without an error: only a second failure is worth a message.
    if (error !== undefined || failures > 1) {
      const reported = error ?? new ConnectionError('the server has closed the stream');
      onConnection?.({ state: 'waiting', error: reported, retryAt: Date.now() + pause });
    } else {
      onConnection?.({ state: 'closed' });
    }
    await wait(pause, ended);
  }
}

/** Doubles with each failure; half of it is random, so that clients of a restarted server do not return together. */
function pauseAfter(failures: number): number {
  const pause = Math.min(MAX_PAUSE, FIRST_PAUSE * 2 ** (failures - 1));
  return pause * (0.5 + Math.random() / 2);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
