// Watches of Kubernetes without a gap: a list, then its changes from the version of the list, resumed after each
// disconnect.
import type { KubernetesList, KubernetesObject } from './kubernetes-object.ts';
import { linesIn } from './line-splitter.ts';
import { reconnecting, type StreamOptions } from './reconnecting.ts';
import { StatusError, type StatusObject } from './status-error.ts';
import type { Query, Transport } from './transport.ts';

/** A change of an object. DELETED has its last state. */
export interface WatchEvent<T = KubernetesObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

/** A line of the stream. */
type WatchLine<T> =
  | WatchEvent<T>
  | { readonly type: 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: StatusObject };

export interface Watched<T> {
  readonly path: string;
  readonly query: Query | undefined;
  readonly list: (signal: AbortSignal) => Promise<KubernetesList<T>>;
}

/**
 * kube-apiserver ends a watch after this time: random, so that watches do not return together, and less than the five
 * minutes after which `fetch` of Node ends a silent response.
 */
const TIMEOUT_SECONDS = { min: 180, range: 90 };
/** Milliseconds that the end of a watch can be late. */
const GRACE = 20_000;

export function watch<T>(
  transport: Transport,
  { path, query, list }: Watched<T>,
  options: StreamOptions,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  // Throws for an invalid path or query, which no retry can help.
  transport.url(path, query);
  /** The objects that the caller has seen, by uid. */
  const seen = new Map<string, T>();
  let version: string | undefined;

  async function* connect(signal: AbortSignal, opened: () => void): AsyncGenerator<WatchEvent<T>> {
    if (version === undefined) {
      const { items, resourceVersion } = await list(signal);
      opened();
      yield* replaced(seen, items);
      version = resourceVersion;
    }
    const timeoutSeconds = TIMEOUT_SECONDS.min + Math.floor(Math.random() * TIMEOUT_SECONDS.range);
    const parameters = { watch: true, allowWatchBookmarks: true, resourceVersion: version, timeoutSeconds };
    const { exchange, response } = await transport.open(path, { query: { ...query, ...parameters }, signal });
    opened();
    const chunks = exchange.chunks(response, timeoutSeconds * 1000 + GRACE);
    for await (const line of linesIn(chunks, { complete: true })) {
      if (line === '') continue;
      const event = JSON.parse(line) as WatchLine<T>;
      if (event.type === 'ERROR') throw new StatusError(event.object);
      const { uid, resourceVersion } = metadataOf(event.object);
      if (event.type !== 'BOOKMARK') {
        if (event.type === 'DELETED') seen.delete(uid);
        else seen.set(uid, event.object);
        yield event;
      }
      version = resourceVersion;
    }
  }

  return reconnecting(async function* (signal, opened) {
    try {
      yield* connect(signal, opened);
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 410)) throw error;
      // The server no longer has the changes since this version: list again.
      version = undefined;
    }
  }, options);
}

/** The events between the objects that the caller has seen and those of a new list. */
function* replaced<T>(seen: Map<string, T>, items: readonly T[]): Generator<WatchEvent<T>> {
  const listed = new Set(items.map((item) => metadataOf(item).uid));
  // First, because an object can have the name of a deleted one.
  for (const [uid, object] of seen) {
    if (listed.has(uid)) continue;
    seen.delete(uid);
    yield { type: 'DELETED', object };
  }
  for (const object of items) {
    const { uid, resourceVersion } = metadataOf(object);
    const before = seen.get(uid);
    if (before !== undefined && metadataOf(before).resourceVersion === resourceVersion) continue;
    seen.set(uid, object);
    yield { type: before === undefined ? 'ADDED' : 'MODIFIED', object };
  }
}

/** Every object of Kubernetes has this metadata; the type of the caller may omit it. */
function metadataOf(object: unknown): KubernetesObject['metadata'] {
  return (object as KubernetesObject).metadata;
}
