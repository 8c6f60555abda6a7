// The objects of one path of kube-apiserver by name, and whether they are known to be up to date.
import type { Logger } from 'pino';
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import { Reflector } from '../../cluster/reflector/reflector.ts';
import type { ReflectorSink, Replacement } from '../../cluster/reflector/reflector-sink.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';
import type { ChangeType } from '../../cluster/reflector/watch-stream.ts';
import { failureReason } from './failure-reason.ts';

export class WatchedObjects<T> {
  readonly #path: string;
  readonly #objects: NamedObjects<T>;
  readonly #freshness = new Freshness();

  /** See NamedObjects. */
  constructor(path: string, read: (object: unknown, raw: Buffer) => T, changed: () => void) {
    this.#path = path;
    this.#objects = new NamedObjects(read, changed);
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  /** Resolves after the first list or failure. */
  get settled(): Promise<void> {
    return this.#freshness.settled;
  }

  /** True before the first list, and while the last one can be out of date. */
  get stale(): boolean {
    return !this.#objects.synced || !this.#freshness.within(STALE_AFTER_MS);
  }

  /** True if they are stale, and from the failure of the watch until they are known to be up to date again. */
  get interrupted(): boolean {
    return this.stale || this.#freshness.interrupted;
  }

  /** Why the objects are not up to date. */
  get reason(): string {
    const resource = this.#path.slice(this.#path.lastIndexOf('/') + 1);
    return `the ${resource} of the cluster are not known: ${failureReason(resource, this.#freshness.failure)}`;
  }

  /** Runs until `signal` is aborted; never throws. */
  run(options: { readonly client: ClusterClient; readonly log: Logger }, signal: AbortSignal): Promise<void> {
    const { client, log } = options;
    return new Reflector({
      client,
      log,
      path: this.#path,
      sink: this.#objects,
      observer: this.#freshness,
      tuning: SHORT_WATCHES,
    }).run(signal);
  }
}

/** What the server needs of each object, by the name of the object. */
export class NamedObjects<T> implements ReflectorSink {
  readonly #read: (object: unknown, raw: Buffer) => T;
  readonly #changed: () => void;
  #objects = new Map<string, T>();
  #synced = false;

  /** `read` converts an object and its JSON, and must not throw. `changed` is called after each list and each change. */
  constructor(read: (object: unknown, raw: Buffer) => T, changed: () => void) {
    this.#read = read;
    this.#changed = changed;
  }

  /** True after the first list. */
  get synced(): boolean {
    return this.#synced;
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  replacement(): Replacement {
    const objects = new Map<string, T>();
    return {
      add: (raw) => {
        objects.set(...this.#parse(raw));
      },
      commit: () => {
        this.#objects = objects;
        this.#synced = true;
        this.#changed();
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const [name, value] = this.#parse(raw);
    if (type === 'DELETED') this.#objects.delete(name);
    else this.#objects.set(name, value);
    this.#changed();
  }

  bookmark(): void {
    // A bookmark changes nothing.
  }

  #parse(raw: Buffer): [name: string, value: T] {
    const object: unknown = JSON.parse(raw.toString('utf8'));
    const { name } = recordIn(object, 'metadata');
    if (typeof name !== 'string') throw new SyntaxError('an object without a name');
    return [name, this.#read(object, raw)];
  }
}
