// Creates the default arguments of a log store call in tests.
import type { Call } from '../../../server/logging/store/log-store.ts';

/** A call with a long timeout. */
export function call(signal: AbortSignal = new AbortController().signal, timeoutMs = 60_000): Call {
  return { signal, timeoutMs };
}
