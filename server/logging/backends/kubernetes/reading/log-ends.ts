// When the first and the last line of a log were written.
import type { Instant } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import type { LogReader } from './log-reader.ts';

/** Enough for a time. */
const FIRST_LINE_BYTES = 64;

/** The time of the first line that the kubelet has; undefined when it has none. */
export function firstLineOf(
  reader: LogReader,
  source: LogSource,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  return timeOf(reader, source, { signal });
}

/** About the time of the last one: of a line that goes on and on, of its last piece. */
export function lastLineOf(
  reader: LogReader,
  source: LogSource,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  return timeOf(reader, source, { signal, tailLines: 1 });
}

async function timeOf(
  reader: LogReader,
  source: LogSource,
  which: { readonly signal: AbortSignal; readonly tailLines?: number },
): Promise<Instant | undefined> {
  // A line that is longer is cut by the limit, and still has its time.
  const request = { ...which, since: undefined, limitBytes: FIRST_LINE_BYTES, headOnly: true };
  const extent = await reader.read(source, request, () => undefined);
  return extent.first;
}
