// Encodes objects in responses as the object, PartialObjectMetadata, or rows of a Table (tables.ts).
import type { ListMeta } from '../../apis/meta/v1/table.ts';
import type { CachedObject, WatchEvent, WatchEventType } from '../cache/resource-cache.ts';
import { ObjectHead } from '../cache/resource-cache.ts';
import { apiVersionOf } from '../resources/kind.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { LINE_END, LINE_STARTS, line, WatchLines } from './watch-lines.ts';

/** Encodes the lines of a watch, each with a newline at its end. */
export interface WatchRepresentation<Facts> {
  /** Returns the line of an event, for a watcher that receives the event as `type`. */
  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer;
  /** Returns the ADDED line of an initial event, in parts that are not yet concatenated. */
  initial(object: CachedObject<Facts>): readonly Buffer[];
  /** Returns the line of a bookmark. `initialEventsEnd` is true for the bookmark after the initial events. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer;
}

export interface Representation<Facts> extends WatchRepresentation<Facts> {
  /** Returns the body of a get without the final newline, in parts that are not yet concatenated. */
  one(object: CachedObject<Facts>): readonly Buffer[];
  /** `size`: number of items, if it is known. */
  list(meta: ListMeta, size?: number): ListFrame;
  /** Returns the item of a list for an object. */
  item(object: CachedObject<Facts>): Buffer;
}

export interface ListFrame {
  readonly start: Buffer;
  readonly end: Buffer;
}

export const LIST_END = Buffer.from(']}\n');

/** Returns the start and the end of a list. `head`: the fields before `items`. */
function newListFrame(head: { kind: string; apiVersion: string; metadata: ListMeta }): ListFrame {
  return { start: Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`), end: LIST_END };
}

const COMMA = Buffer.from(',');

/** Yields the bytes of a list. An item is encoded only when its bytes are requested. */
export function* framed<Item>(
  { start, end }: ListFrame,
  items: readonly Item[],
  partsOf: (item: Item) => Iterable<Buffer>,
): Generator<Buffer> {
  yield start;
  for (const [index, item] of items.entries()) {
    if (index > 0) yield COMMA;
    yield* partsOf(item);
  }
  yield end;
}

/** Annotation of the bookmark after the initial events. */
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' } as const;

/** Returns the metadata of the object of a bookmark. */
export function bookmarkMetadata(resourceVersion: string, initialEventsEnd: boolean): object {
  return {
    resourceVersion,
    ...(initialEventsEnd ? { annotations: INITIAL_EVENTS_END } : {}),
  };
}

/** Returns the parts as one buffer; copies only if there are several. */
export function joinedParts(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return first && parts.length === 1 ? first : Buffer.concat(parts);
}

/** Representation of unconverted objects: their cached bytes. It is shared by all requests. */
export class Objects<Facts> implements Representation<Facts> {
  readonly #kind: string;
  readonly #listKind: string;
  readonly #apiVersion: string;
  readonly #head: ObjectHead;
  readonly #meta: Partial<ListMeta>;
  readonly #lines = new WatchLines<Facts>();

  constructor(definition: ResourceDefinition<Facts>) {
    this.#kind = definition.kind;
    this.#listKind = definition.listKind;
    this.#apiVersion = apiVersionOf(definition);
    this.#head = new ObjectHead(definition);
    this.#meta = definition.emptyContinue ? { continue: '' } : {};
  }

  one(object: CachedObject<Facts>): readonly Buffer[] {
    return this.#head.complete(object.bytes);
  }

  list(meta: ListMeta): ListFrame {
    const metadata = { ...this.#meta, ...meta };
    return newListFrame({ kind: this.#listKind, apiVersion: this.#apiVersion, metadata });
  }

  item(object: CachedObject<Facts>): Buffer {
    return object.bytes;
  }

  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer {
    return this.#lines.of(event, type, () => line(type, ...this.#head.complete(event.objectFor(type).bytes)));
  }

  initial(object: CachedObject<Facts>): readonly Buffer[] {
    return [LINE_STARTS.ADDED, ...this.#head.complete(object.bytes), LINE_END];
  }

  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer {
    const metadata = bookmarkMetadata(resourceVersion, initialEventsEnd);
    const object = { kind: this.#kind, apiVersion: this.#apiVersion, metadata };
    return line('BOOKMARK', Buffer.from(JSON.stringify(object)));
  }
}

const OBJECT_END = Buffer.from('}');
/** The items of an empty PartialObjectMetadataList, as in kube-apiserver. */
const NO_ITEMS = Buffer.from('null}\n');

export type MetaAPIVersion = 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1';

export class PartialMetadata<Facts> implements Representation<Facts> {
  readonly #apiVersion: MetaAPIVersion;
  readonly #start: Buffer;

  constructor(apiVersion: MetaAPIVersion) {
    this.#apiVersion = apiVersion;
    this.#start = Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"${apiVersion}","metadata":`);
  }

  one(object: CachedObject<Facts>): readonly Buffer[] {
    return [this.#start, object.metadata, OBJECT_END];
  }

  list(meta: ListMeta, size?: number): ListFrame {
    const frame = newListFrame({
      kind: 'PartialObjectMetadataList',
      apiVersion: this.#apiVersion,
      metadata: meta,
    });
    return size === 0 ? { start: frame.start.subarray(0, -1), end: NO_ITEMS } : frame;
  }

  item(object: CachedObject<Facts>): Buffer {
    return joinedParts(this.one(object));
  }

  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer {
    return line(type, ...this.one(event.objectFor(type)));
  }

  initial(object: CachedObject<Facts>): readonly Buffer[] {
    return [LINE_STARTS.ADDED, ...this.one(object), LINE_END];
  }

  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer {
    const metadata = Buffer.from(JSON.stringify(bookmarkMetadata(resourceVersion, initialEventsEnd)));
    return line('BOOKMARK', Buffer.concat([this.#start, metadata, OBJECT_END]));
  }
}
