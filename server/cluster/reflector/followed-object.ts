import { recordIn } from '../../../apis/reading/unknown-value.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import type { ChangeType } from './watch-stream.ts';

export interface FollowedObject extends Pick<ReflectorOptions, 'client' | 'log'> {
  /** Of its collection, in its namespace if it has one. */
  readonly path: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Told the object, undefined where there is none; `isListed`: by a list, which also a cluster begins with that was restored. */
type ObjectListener = (object: unknown, isListed: boolean) => void;

/**
 * Follows the one object of this name until `signal` is aborted; never throws. `changed` is told it after each list
 * and at each change; it must not throw. No other object is asked for: who follows one need not have the right to see
 * them all.
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

/** Tells of one object, whatever else comes. */
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

  /** Undefined where it is another one. */
  #read(raw: Buffer): unknown {
    const object: unknown = JSON.parse(raw.toString('utf8'));
    const { name, namespace } = recordIn(object, 'metadata');
    if (typeof name !== 'string') throw new SyntaxError('an object without a name');
    return name === this.#name && namespace === this.#namespace ? object : undefined;
  }
}
