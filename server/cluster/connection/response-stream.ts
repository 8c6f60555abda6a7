// Reader of streamed JSON responses of kube-apiserver, with an idle timeout.
import type { Readable } from 'node:stream';
import { backgroundSlicer } from '../../concurrency/time-slicer.ts';
import { StalledError } from '../../upstream/upstream-response.ts';
import type { ClusterClient } from './client.ts';
import { readError } from './response-body.ts';

export interface StreamRequest {
  /** Path of the resource, for instance `/api/v1/nodes`. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Idle timeout of the response, in ms. */
  readonly idleMs: number;
}

/** Requests JSON and returns the chunks of the body, see streamedBody(). Throws StatusError for any status but 200. */
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
  return streamedBody(response.stream(), idleMs);
}

/**
 * Yields the chunks of a body. Ends normally when the body ends or the peer closes the connection cleanly. Throws
 * StalledError when no chunk arrives for `idleMs`. Yields to the event loop between chunks. If the consumer leaves its
 * loop early, the body is destroyed.
 */
export async function* streamedBody(body: Readable, idleMs: number): AsyncGenerator<Buffer> {
  const slices = backgroundSlicer.of({});
  // The idle timeout applies to the peer only, not while the consumer processes a chunk.
  let isWaiting = true;
  const timer = setTimeout(() => {
    if (isWaiting) body.destroy(new StalledError(idleMs));
  }, idleMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      isWaiting = false;
      yield chunk;
      if (slices.spent) await slices.next();
      isWaiting = true;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}
