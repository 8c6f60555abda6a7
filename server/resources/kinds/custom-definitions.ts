// Index of CustomResourceDefinitions: printer columns and selectable fields by kind and version. A reflector fills the
// index.
import { hash } from 'node:crypto';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { memberNamed, objectMembers } from '../../cluster/reflector/raw-json.ts';
import type { ReflectorSink, Replacement } from '../../cluster/reflector/reflector-sink.ts';
import type { ChangeType } from '../../cluster/reflector/watch-stream.ts';
import type { CustomDefinition } from '../kind.ts';

/** The definitions of one CustomResourceDefinition, by version. */
type Versions = ReadonlyMap<string, CustomDefinition>;

export const CUSTOM_DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Reflector sink of CustomResourceDefinitions. */
export class CustomDefinitions implements ReflectorSink {
  readonly #changed: () => void;
  /** By the name of the definition, for instance `widgets.example.com`. */
  #definitions = new Map<string, Versions>();
  #synced = false;

  /** `changed` is called after each list and each change. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** Returns the definition of a version; undefined if the kind is not a custom resource. */
  of(name: string, version: string): CustomDefinition | undefined {
    return this.#definitions.get(name)?.get(version);
  }

  /** Returns true if the kind is a custom resource. */
  has(name: string): boolean {
    return this.#definitions.has(name);
  }

  replacement(): Replacement {
    const definitions = new Map<string, Versions>();
    return {
      add: (raw) => {
        const [name, versions] = parse(raw);
        definitions.set(name, versions);
      },
      commit: () => {
        this.#definitions = definitions;
        this.#synced = true;
        this.#changed();
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const [name, versions] = parse(raw);
    if (type === 'DELETED') this.#definitions.delete(name);
    else this.#definitions.set(name, versions);
    this.#changed();
  }

  bookmark(): void {
    // A bookmark changes nothing.
  }
}

function parse(raw: Buffer): [name: string, versions: Versions] {
  const object: unknown = JSON.parse(raw.toString('utf8'));
  const member = memberNamed(objectMembers(raw), 'spec');
  const { name, uid } = recordIn(object, 'metadata');
  if (typeof name !== 'string') throw new SyntaxError('an object without a name');
  const spec = recordIn(object, 'spec');
  // Another definition of the same name has another uid. `status` is not part of the revision.
  // The bytes are hashed, because a deeply nested schema overflows the stack of JSON.stringify.
  const bytes = Buffer.concat([Buffer.from(`${text(uid)} `), raw.subarray(member?.start, member?.end)]);
  const revision = hash('sha256', bytes, 'base64url');
  const versions = array(spec['versions'])
    .map(record)
    .map((version): [string, CustomDefinition] => [
      text(version['name']),
      {
        revision,
        columns: array(version['additionalPrinterColumns'])
          .map(record)
          .map((column) => ({
            name: text(column['name']),
            jsonPath: text(column['jsonPath']),
            type: text(column['type']),
          })),
        selectableFields: array(version['selectableFields']).map((field) => text(record(field)['jsonPath'])),
      },
    ]);
  return [name, new Map(versions)];
}
