import type { IncomingMessage } from 'node:http';
import { Pacer } from '../../concurrency/pacer.ts';
import type { ClusterClient } from './client.ts';
import { readError, StalledError } from './response-body.ts';

export interface StreamRequest {
  /** The resource's, for instance `/api/v1/nodes`. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** How long the answer may be silent, in ms. */
  readonly idleMs: number;
}

/** Asks for JSON that is read while it comes, as streamedBody() gives it. Throws the error that any answer but 200 stands for. */
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
 * The chunks of an answer, for as long as each comes within `idleMs` of the one before. Ends normally when the body
 * does, also when the other side merely hung up cleanly. Leaves room for others between the chunks; leaving the loop
 * early destroys the answer.
 */
export async function* streamedBody(response: IncomingMessage, idleMs: number): AsyncGenerator<Buffer> {
  const pacer = new Pacer();
  // While a chunk is worked on nobody waits for the other side.
  let isWaiting = true;
  const timer = setTimeout(() => {
    if (isWaiting) response.destroy(new StalledError(idleMs));
  }, idleMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      isWaiting = false;
      yield chunk;
      if (pacer.spent) await pacer.breathe();
      isWaiting = true;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}
