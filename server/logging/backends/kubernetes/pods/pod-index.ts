import type { ReflectorSink, Replacement } from '../../../../cluster/reflector/reflector-sink.ts';
import type { ChangeType } from '../../../../cluster/reflector/watch-stream.ts';
import { Interner } from '../../../../memory/interner.ts';
import { type PodFacts, readPod } from './pod-facts.ts';

type Namespaces = Map<string, Map<string, PodFacts>>;

/** Undefined: all pods may have changed. */
export type PodListener = (pod: { readonly namespace: string; readonly name: string } | undefined) => void;

/** The pods of the cluster by namespace and name. A sink of the reflector. */
export class PodIndex implements ReflectorSink {
  readonly #listeners = new Set<PodListener>();
  readonly #interner = new Interner();
  readonly #monotonic: () => number;
  #namespaces: Namespaces | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;

  /** `monotonic`: ms that never go back. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether a list has come whole. */
  get synced(): boolean {
    return this.#namespaces !== undefined;
  }

  /** For how many ms the cluster has said nothing. */
  get silentMs(): number {
    return this.#monotonic() - this.#heardAt;
  }

  get(namespace: string, name: string): PodFacts | undefined {
    return this.#namespaces?.get(namespace)?.get(name);
  }

  namespaces(): Iterable<string> {
    return this.#namespaces?.keys() ?? [];
  }

  podsOf(namespace: string): Iterable<PodFacts> {
    return this.#namespaces?.get(namespace)?.values() ?? [];
  }

  onChange(listener: PodListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  replacement(): Replacement {
    const namespaces: Namespaces = new Map();
    return {
      add: (raw) => put(namespaces, this.#parse(raw)),
      commit: () => {
        this.#namespaces = namespaces;
        this.#heard();
        this.#tell(undefined);
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const pod = this.#parse(raw);
    this.#namespaces ??= new Map();
    if (type === 'DELETED') remove(this.#namespaces, pod);
    else put(this.#namespaces, pod);
    this.#heard();
    this.#tell(pod);
  }

  bookmark(): void {
    this.#heard();
  }

  #heard(): void {
    this.#heardAt = this.#monotonic();
  }

  #parse(raw: Buffer): PodFacts {
    const pod = readPod(JSON.parse(raw.toString('utf8')), (name) => this.#interner.intern(name));
    if (!pod) throw new SyntaxError('a pod without a name or a namespace');
    return pod;
  }

  #tell(pod: PodFacts | undefined): void {
    for (const listener of this.#listeners) listener(pod);
  }
}

function put(namespaces: Namespaces, pod: PodFacts): void {
  let pods = namespaces.get(pod.namespace);
  if (!pods) namespaces.set(pod.namespace, (pods = new Map()));
  pods.set(pod.name, pod);
}

function remove(namespaces: Namespaces, { namespace, name }: PodFacts): void {
  const pods = namespaces.get(namespace);
  pods?.delete(name);
  if (pods?.size === 0) namespaces.delete(namespace);
}
