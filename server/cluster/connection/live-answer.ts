import type { ClusterClient } from './client.ts';
import { liveBody } from './live-body.ts';
import { readError } from './response-body.ts';

export interface LiveRequest {
  /** The resource's, for instance `/api/v1/nodes`. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** How long the answer may be silent, in ms. */
  readonly idleMs: number;
}

/** Asks for JSON that is read while it comes, as liveBody() gives it. Throws the error that any answer but 200 stands for. */
export async function liveAnswer(
  client: Pick<ClusterClient, 'open'>,
  { path, signal, idleMs }: LiveRequest,
  parameters: Readonly<Record<string, string>>,
): Promise<AsyncIterable<Buffer>> {
  const response = await client.open({
    path: `${path}?${new URLSearchParams(parameters).toString()}`,
    headers: { accept: 'application/json' },
    signal,
    timeoutMs: idleMs,
  });
  if (response.statusCode !== 200) throw await readError(response, idleMs);
  return liveBody(response, idleMs);
}
