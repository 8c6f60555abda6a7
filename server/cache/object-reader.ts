// Converts raw JSON objects from kube-apiserver to cached objects.
import { recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { Member } from '../cluster/reflector/raw-json.ts';
import { Interner } from '../memory/interner.ts';
import { type ObjectExtent, objectHead, type SplicedObject, splice, writeSpliced } from './object-splice.ts';
import type { CachedObject } from './resource-cache.ts';

/** The properties of a resource that the cache needs. ResourceDefinition implements them. */
export interface ObjectSource<Facts> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly source: { readonly path: string };
  facts(object: unknown): Facts;
}

/** An object with extracted facts, whose bytes are not yet in their final buffer. */
export interface ReadObject<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  readonly spliced: SplicedObject;
}

export type ObjectIdentity<Facts> = Omit<CachedObject<Facts>, 'bytes' | 'metadata'>;

/** Converts raw objects of one resource. The parsed object is discarded after each call. */
export class ObjectReader<Facts> {
  readonly #source: ObjectSource<Facts>;
  readonly #head: Buffer;
  readonly #interner = new Interner();

  constructor(source: ObjectSource<Facts>) {
    this.#source = source;
    this.#head = objectHead(source.kind, source.group, source.version);
  }

  /** `members`: those of the object, if the caller has already scanned it. */
  read(raw: Buffer, members?: readonly Member[]): ReadObject<Facts> {
    const parsed: unknown = JSON.parse(raw.toString('utf8'));
    const metadata = recordIn(parsed, 'metadata');
    const name = text(metadata['name']);
    const resourceVersion = text(metadata['resourceVersion']);
    if (name === '' || !/^\d+$/.test(resourceVersion)) {
      throw new SyntaxError('an object without name or resourceVersion');
    }
    const namespace = this.#interner.intern(text(metadata['namespace']));
    return {
      identity: {
        key: namespace === '' ? name : `${namespace}/${name}`,
        name,
        namespace,
        uid: text(metadata['uid']),
        resourceVersion,
        labels: this.#labels(recordIn(metadata, 'labels')),
        facts: this.#source.facts(parsed),
      },
      spliced: splice(raw, this.#head, members),
    };
  }

  #labels(labels: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
    const kept: Record<string, string> = {};
    for (const [key, value] of Object.entries(labels)) {
      if (typeof value === 'string') kept[this.#interner.intern(key)] = this.#interner.intern(value);
    }
    return kept;
  }
}

/** Writes the bytes of a read object to `target` at `offset`. Returns the cached object, with slices of `target`. */
export function placeObject<Facts>(
  identity: ObjectIdentity<Facts>,
  spliced: SplicedObject,
  target: Buffer,
  offset: number,
): CachedObject<Facts> {
  writeSpliced(spliced, target, offset);
  return sliceObject(identity, spliced, target, offset);
}

/** Copies the bytes of a cached object to `target` at `offset`. Returns the object with slices of `target`. */
export function moveObject<Facts>(
  object: CachedObject<Facts>,
  target: Buffer,
  offset: number,
): CachedObject<Facts> {
  object.bytes.copy(target, offset);
  const metadataStart = object.metadata.byteOffset - object.bytes.byteOffset;
  const metadataEnd = metadataStart + object.metadata.length;
  return sliceObject(object, { length: object.bytes.length, metadataStart, metadataEnd }, target, offset);
}

/** Copies the object to a separate buffer, because a slice keeps the shared buffer of its chunk in memory. */
export function withOwnBuffer<Facts>(object: CachedObject<Facts>): CachedObject<Facts> {
  const slack = 256;
  if (object.bytes.buffer.byteLength <= object.bytes.length + slack) return object;
  return moveObject(object, Buffer.allocUnsafeSlow(object.bytes.length), 0);
}

/** Returns the cached object whose bytes are at `offset` in `target`. */
export function sliceObject<Facts>(
  { key, name, namespace, uid, resourceVersion, labels, facts }: ObjectIdentity<Facts>,
  { length, metadataStart, metadataEnd }: ObjectExtent,
  target: Buffer,
  offset: number,
): CachedObject<Facts> {
  const bytes = target.subarray(offset, offset + length);
  const metadata = bytes.subarray(metadataStart, metadataEnd);
  return { key, name, namespace, uid, resourceVersion, labels, facts, bytes, metadata };
}
