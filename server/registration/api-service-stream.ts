import type { IncomingMessage } from 'node:http';
import { newExpired, newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../cluster/client.ts';
import { LineSplitter } from '../cluster/line-splitter.ts';
import { readError } from '../cluster/response-body.ts';
import { type ApiService, readApiService } from './api-service.ts';

/** A watch that kube-apiserver should have ended this much earlier is dead, and is replaced. */
const SLACK_MS = 30_000;
const LONGEST_LINE = 16 << 20;

/**
 * One APIService by name: its present state (undefined when it does not exist), then each new one. Ends after some
 * minutes, as watches do; whoever goes on begins again, with the present state first. Only this name is asked for, so
 * the server needs no right to see the others.
 */
export async function* followApiService(
  client: ClusterClient,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<ApiService | undefined, void, undefined> {
  const path = `/apis/apiregistration.k8s.io/v1/apiservices?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
  const list = await client.json({ path, signal });
  yield readApiService(member(member(list, 'items'), '0'));

  const seconds = 240 + Math.floor(Math.random() * 120);
  const lifetime = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000 + SLACK_MS)]);
  const resourceVersion = member(member(list, 'metadata'), 'resourceVersion');
  const response = await client.open({
    path: `${path}&watch=true&timeoutSeconds=${seconds}&resourceVersion=${String(resourceVersion)}`,
    headers: { accept: 'application/json' },
    signal: lifetime,
  });
  if (response.statusCode !== 200) throw await readError(response);
  try {
    for await (const line of linesOf(response)) {
      const event: unknown = JSON.parse(line.toString('utf8'));
      const type = member(event, 'type');
      if (type === 'ERROR') throw newExpired(`the watch of ${name} ended with an error`);
      yield type === 'DELETED' ? undefined : readApiService(member(event, 'object'));
    }
  } catch (error) {
    if (lifetime.aborted && !signal.aborted) {
      throw newServiceUnavailable(`the watch of ${name} was silent for too long`, 1, { cause: error });
    }
    throw error;
  } finally {
    response.destroy();
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  const splitter = new LineSplitter(LONGEST_LINE);
  for await (const chunk of response as AsyncIterable<Buffer>) yield* splitter.push(chunk);
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  const found: unknown = Reflect.get(value, key);
  return found;
}
