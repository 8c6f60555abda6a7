// Index of all pods by namespace and name, filled by a reflector. Only the pod fields that log queries need are
// stored.
import { record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import type { ReflectorSink, Replacement } from '../../../cluster/reflector/reflector-sink.ts';
import type { ChangeType } from '../../../cluster/reflector/watch-stream.ts';
import { Interner } from '../../../memory/interner.ts';

/**
 * One run of a container, from a start to its termination. Times are in ms since the epoch; undefined if not reported.
 */
export interface ContainerRun {
  /** The container ID; empty if unknown. */
  readonly id: string;
  readonly startedAt: number | undefined;
  readonly finishedAt: number | undefined;
}

export interface ContainerSummary {
  readonly name: string;
  readonly running: boolean;
  readonly restarts: number;
  /** The run whose log the pod log API returns; undefined if there is no log. */
  readonly current: ContainerRun | undefined;
  /** The run whose log the pod log API returns with `previous=true`. */
  readonly previous: ContainerRun | undefined;
}

export interface PodSummary {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty before the pod is scheduled. */
  readonly node: string;
  readonly containers: readonly ContainerSummary[];
}

type PodName = Pick<PodSummary, 'namespace' | 'name'>;
type Namespaces = Map<string, Map<string, PodSummary>>;
/** Called with the changed pod; with undefined after a relist, which can change any pod. */
export type PodListener = (pod: PodName | undefined) => void;

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

export class PodIndex implements ReflectorSink {
  readonly #listeners = new Set<PodListener>();
  readonly #interner = new Interner();
  readonly #monotonic: () => number;
  #namespaces: Namespaces | undefined;
  #lastEventAt = Number.NEGATIVE_INFINITY;

  /** `monotonic`: a monotonic clock, in ms. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether the first list is complete. */
  get synced(): boolean {
    return this.#namespaces !== undefined;
  }

  /** Milliseconds since the last event or bookmark of the watch. */
  get silentMs(): number {
    return this.#monotonic() - this.#lastEventAt;
  }

  get(namespace: string, name: string): PodSummary | undefined {
    return this.#namespaces?.get(namespace)?.get(name);
  }

  namespaces(): Iterable<string> {
    return this.#namespaces?.keys() ?? [];
  }

  podsIn(namespace: string): Iterable<PodSummary> {
    return this.#namespaces?.get(namespace)?.values() ?? [];
  }

  onChange(listener: PodListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the pod changes or is deleted, after a relist, or when the signal is aborted. */
  changed({ namespace, name }: PodName, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = this.onChange((pod) => {
      if (!pod || (pod.namespace === namespace && pod.name === name)) end();
    });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return promise;
  }

  replacement(): Replacement {
    const namespaces: Namespaces = new Map();
    return {
      add: (raw) => put(namespaces, this.#parse(raw)),
      commit: () => {
        this.#namespaces = namespaces;
        this.bookmark();
        this.#notify(undefined);
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const pod = this.#parse(raw);
    this.#namespaces ??= new Map();
    if (type === 'DELETED') remove(this.#namespaces, pod);
    else put(this.#namespaces, pod);
    this.bookmark();
    this.#notify(pod);
  }

  bookmark(): void {
    this.#lastEventAt = this.#monotonic();
  }

  #parse(raw: Buffer): PodSummary {
    const pod = parsePod(JSON.parse(raw.toString('utf8')), (name) => this.#interner.intern(name));
    if (!pod) throw new SyntaxError('pod without name or namespace');
    return pod;
  }

  #notify(pod: PodName | undefined): void {
    for (const listener of this.#listeners) listener(pod);
  }
}

/**
 * Parses a Pod; undefined for any other object. Containers without a status are omitted, because they have no log.
 * `intern` deduplicates equal strings in memory.
 */
export function parsePod(object: unknown, intern = (name: string) => name): PodSummary | undefined {
  const { name, namespace, uid } = recordIn(object, 'metadata');
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined;
  const { nodeName } = recordIn(object, 'spec');
  const status = recordIn(object, 'status');
  const containers = STATUS_LISTS.flatMap((list) => {
    const statuses = status[list];
    return Array.isArray(statuses)
      ? statuses.flatMap((one: unknown) => parseContainer(one, intern) ?? [])
      : [];
  });
  return {
    namespace: intern(namespace),
    name,
    uid: text(uid),
    node: intern(text(nodeName)),
    containers,
  };
}

function parseContainer(status: unknown, intern: (name: string) => string): ContainerSummary | undefined {
  const { name, restartCount, containerID } = record(status);
  if (typeof name !== 'string') return undefined;
  const state = recordIn(status, 'state');
  const previous = parseRun(recordIn(status, 'lastState')['terminated']);
  const running = state['running'] !== undefined;
  const ended = parseRun(state['terminated']);
  // A run without a container ID failed to start; the kubelet then returns the log of the previous run.
  const hasOwnLog = ended && (ended.id !== '' || !previous);
  return {
    name: intern(name),
    running,
    restarts: typeof restartCount === 'number' ? restartCount : 0,
    current: running ? parseRun(state['running'], containerID) : hasOwnLog ? ended : undefined,
    previous,
  };
}

function parseRun(state: unknown, id?: unknown): ContainerRun | undefined {
  if (typeof state !== 'object' || state === null) return undefined;
  const { containerID = id, startedAt, finishedAt } = record(state);
  return {
    id: text(containerID),
    startedAt: parseTime(startedAt),
    finishedAt: parseTime(finishedAt),
  };
}

function parseTime(time: unknown): number | undefined {
  const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

function put(namespaces: Namespaces, pod: PodSummary): void {
  let pods = namespaces.get(pod.namespace);
  if (!pods) namespaces.set(pod.namespace, (pods = new Map()));
  pods.set(pod.name, pod);
}

function remove(namespaces: Namespaces, { namespace, name }: PodName): void {
  const pods = namespaces.get(namespace);
  pods?.delete(name);
  if (pods?.size === 0) namespaces.delete(namespace);
}
