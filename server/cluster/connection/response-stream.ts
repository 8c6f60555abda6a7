import type { IncomingMessage } from 'node:http';
import { BACKGROUND_SLICE_MS, TimeSlicer } from '../../concurrency/time-slicer.ts';
import type { ClusterClient } from './client.ts';
import { readError, StalledError } from './response-body.ts';

export interface StreamRequest {
  /** Path of the resource, for instance `/api/v1/nodes`. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Limit for a silence of the response, in ms. */
  readonly idleMs: number;
}

/** Requests JSON and returns its chunks, see streamedBody(). Throws the error of any response but 200. */
export async function openStream(
  client: Pick<ClusterClient, 'open'>,
  { path, signal, idleMs }: StreamRequest,
  parameters: Readonly<Record<string, string>>,
): Promise<AsyncIterable<Buffer>> {
  const response = await client.open({
    path: `${path}?${new URLSearchParams(parameters).toString()}`,
    headers: { accept: 'application/json' },
    signal,
    timeoutMs: idleMs,
  });
  if (response.statusCode !== 200) throw await readError(response, idleMs);
  return streamedBody(response, idleMs);
}

/**
 * Yields the chunks of a response. Throws StalledError when no chunk arrives for `idleMs`. Ends normally when the
 * body ends, also when the peer closes the connection cleanly. Yields to the event loop between chunks. Leaving the
 * loop early destroys the response.
 */
export async function* streamedBody(response: IncomingMessage, idleMs: number): AsyncGenerator<Buffer> {
  const slicer = new TimeSlicer(BACKGROUND_SLICE_MS);
  // The limit applies to the peer, not to the time that the consumer takes for a chunk.
  let isWaiting = true;
  const timer = setTimeout(() => {
    if (isWaiting) response.destroy(new StalledError(idleMs));
  }, idleMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      isWaiting = false;
      yield chunk;
      if (slicer.spent) await slicer.next();
      isWaiting = true;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}
