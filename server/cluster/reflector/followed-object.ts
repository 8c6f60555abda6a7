// Reflector for one named object, such as a ConfigMap or a Secret.
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import type { ChangeType } from './watch-stream.ts';

interface FollowedObject extends Pick<ReflectorOptions, 'client' | 'log'> {
  /** Path of the collection; it includes the namespace of a namespaced kind. */
  readonly path: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Receives the object, or undefined if it does not exist. `isListed` is true after a list, whose object can be older
 * than the previous one if the cluster was restored from a backup.
 */
type ObjectListener = (object: unknown, isListed: boolean) => void;

/**
 * Follows one object until `signal` is aborted; never throws. Calls `changed` after each list and each change;
 * `changed` must not throw. The requests select only this object, so permission for its name is sufficient.
 */
export async function followObject(
  { client, log, path, namespace, name }: FollowedObject,
  changed: ObjectListener,
  signal: AbortSignal,
): Promise<void> {
  const reflector = new Reflector({
    client,
    log,
    path,
    query: { fieldSelector: `metadata.name=${name}` },
    sink: new ObjectSink({ name, namespace }, changed),
  });
  await reflector.run(signal);
}

/** A reflector sink for one object. It ignores all other objects. */
export class ObjectSink implements ReflectorSink {
  readonly #name: string;
  readonly #namespace: string | undefined;
  readonly #changed: ObjectListener;

  constructor(
    { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
    changed: ObjectListener,
  ) {
    this.#name = name;
    this.#namespace = namespace;
    this.#changed = changed;
  }

  replacement(): Replacement {
    let found: unknown;
    return {
      add: (raw) => {
        found = this.#read(raw) ?? found;
      },
      commit: () => this.#changed(found, true),
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const object = this.#read(raw);
    if (object !== undefined) this.#changed(type === 'DELETED' ? undefined : object, false);
  }

  bookmark(): void {
    // A bookmark changes nothing.
  }

  /** Parses the object; returns undefined for another object. */
  #read(raw: Buffer): unknown {
    const object: unknown = JSON.parse(raw.toString('utf8'));
    const { name, namespace } = recordIn(object, 'metadata');
    if (typeof name !== 'string') throw new SyntaxError('an object without a name');
    return name === this.#name && namespace === this.#namespace ? object : undefined;
  }
}
