import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import type { ChangeType } from './watch-stream.ts';

/** Called with all objects by key (`name` or `namespace/name`) after each change, and after the first list. */
export type ObjectsByName = ReadonlyMap<string, unknown>;

/**
 * Keeps a few objects parsed: for what is looked at as a whole (a ConfigMap, a handful of Secrets), not for what is
 * served. A sink of the reflector.
 */
export class ObjectFollower implements ReflectorSink {
  readonly #changed: (objects: ObjectsByName) => void;
  #objects: Map<string, unknown> | undefined;

  /** `changed` must not throw: it is told again only at the next change. */
  constructor(changed: (objects: ObjectsByName) => void) {
    this.#changed = changed;
  }

  /** Undefined until the first list is complete. */
  get objects(): ObjectsByName | undefined {
    return this.#objects;
  }

  replacement(): Replacement {
    const objects = new Map<string, unknown>();
    return {
      add: (raw) => {
        const [key, object] = parse(raw);
        objects.set(key, object);
      },
      commit: () => {
        this.#objects = objects;
        this.#changed(objects);
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const [key, object] = parse(raw);
    const objects = new Map(this.#objects);
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, object);
    this.#objects = objects;
    this.#changed(objects);
  }

  bookmark(): void {
    // A bookmark changes nothing.
  }
}

function parse(raw: Buffer): [key: string, object: unknown] {
  const object: unknown = JSON.parse(raw.toString('utf8'));
  const { name, namespace } = recordIn(object, 'metadata');
  if (typeof name !== 'string') throw new SyntaxError('an object without a name');
  return [typeof namespace === 'string' ? `${namespace}/${name}` : name, object];
}
