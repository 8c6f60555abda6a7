// Reflector sink for the definitions of kinds: what the server needs of each object, by the name of the object.
import { recordIn } from '../../../apis/reading/unknown-value.ts';
import type { ReflectorSink, Replacement } from '../../cluster/reflector/reflector-sink.ts';
import type { ChangeType } from '../../cluster/reflector/watch-stream.ts';

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
