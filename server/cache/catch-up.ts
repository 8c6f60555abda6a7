import type { ClusterClient } from '../cluster/connection/client.ts';
import { eventMetadata } from '../cluster/following/object-metadata.ts';
import { type ChangeType, watchStream } from '../cluster/following/watch-stream.ts';

/** Takes the events and bookmarks of the probe, and ignores those older than what the cache holds. */
export interface CatchUpSink {
  apply(type: ChangeType, object: Buffer): void;
  bookmark(resourceVersion: string): void;
}

export interface CatchUpOptions {
  readonly client: ClusterClient;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly sink: CatchUpSink;
}

const WATCH_SECONDS = 3;
const LINE_LIMIT = 16 << 20;

/**
 * Brings a cache from `from`, its own resourceVersion, to `target`, one that may come from another kind of object, so
 * that no event of ours ever will. Two steps: the list makes kube-apiserver's own cache reach the target; the watch
 * then delivers what we have missed, and a bookmark that confirms it. Only that bookmark may advance the cache, because
 * only a stream that delivered the events knows that there are no others.
 */
export async function catchUp(
  { client, path, query, sink }: CatchUpOptions,
  from: string,
  target: bigint,
  signal: AbortSignal,
): Promise<void> {
  await reachTarget(client, path, query, target, signal);
  const events = watchStream(client, {
    path,
    query: { ...query, resourceVersion: from, timeoutSeconds: String(WATCH_SECONDS) },
    signal,
    idleMs: (WATCH_SECONDS + 2) * 1000,
    lineLimit: LINE_LIMIT,
  });
  for await (const { type, object } of events) {
    const { resourceVersion } = eventMetadata(object);
    if (signal.aborted) return;
    if (type === 'BOOKMARK') sink.bookmark(resourceVersion);
    else sink.apply(type, object);
    if (BigInt(resourceVersion) >= target) return;
  }
}

async function reachTarget(
  client: ClusterClient,
  path: string,
  query: Readonly<Record<string, string>>,
  target: bigint,
  signal: AbortSignal,
): Promise<void> {
  const parameters = new URLSearchParams({
    ...query,
    limit: '1',
    resourceVersion: target.toString(),
    resourceVersionMatch: 'NotOlderThan',
  });
  await client.json({
    path: `${path}?${parameters.toString()}`,
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    signal,
  });
}
