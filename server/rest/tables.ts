// Encodes objects as a `meta.k8s.io/v1` Table with the columns that kubectl prints.
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import type { IncludeObject, ListMeta, TableColumnDefinition } from '../../apis/meta/v1/table.ts';
import { goEscaped } from '../../apis/reading/go-json.ts';
import { goQuoted } from '../../apis/reading/go-quote.ts';
import type { CachedObject, WatchEvent, WatchEventType } from '../cache/resource-cache.ts';
import { ObjectHead } from '../cache/resource-cache.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import {
  bookmarkMetadata,
  joinedParts,
  LIST_END,
  type ListFrame,
  type MetaAPIVersion,
  PartialMetadata,
  type Representation,
} from './representation.ts';
import { line, type WatchLines } from './watch-lines.ts';

const ROW_END = Buffer.from('}');
const NULL = Buffer.from('null');

/** Returns the parameter `includeObject`, by default `Metadata`. Throws BadRequest for an invalid value. */
export function readIncludeObject(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw newBadRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuoted(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

function columnsOf<Facts>(definition: ResourceDefinition<Facts>): TableColumnDefinition[] {
  return definition.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

/** One per request, because a watch sends the column definitions only once. */
export class Tables<Facts> implements Representation<Facts> {
  readonly #definition: ResourceDefinition<Facts>;
  readonly #apiVersion: MetaAPIVersion;
  readonly #include: IncludeObject;
  readonly #partial: PartialMetadata<Facts>;
  readonly #now: () => Date;
  readonly #lines: WatchLines<Facts>;
  readonly #head: ObjectHead;
  #columnsSent = false;

  constructor(
    definition: ResourceDefinition<Facts>,
    apiVersion: MetaAPIVersion,
    include: IncludeObject,
    now: () => Date,
    lines: WatchLines<Facts>,
  ) {
    this.#definition = definition;
    this.#apiVersion = apiVersion;
    this.#include = include;
    this.#partial = new PartialMetadata(apiVersion);
    this.#now = now;
    this.#lines = lines;
    this.#head = new ObjectHead(definition);
  }

  one(object: CachedObject<Facts>): readonly Buffer[] {
    return [this.#table({ resourceVersion: object.resourceVersion }, this.item(object))];
  }

  list(meta: ListMeta): ListFrame {
    return { start: Buffer.from(this.#start(meta, columnsOf(this.#definition))), end: LIST_END };
  }

  item(object: CachedObject<Facts>): Buffer {
    return this.#row(object, this.#included(object));
  }

  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer {
    const make = (): Buffer => this.#line(type, event.objectFor(type));
    // The first line of a watch contains the column definitions.
    if (!this.#columnsSent) return make();
    return this.#lines.of(event, `${type} ${this.#include} ${this.#apiVersion}`, make);
  }

  initial(object: CachedObject<Facts>): readonly Buffer[] {
    return [this.#line('ADDED', object)];
  }

  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer {
    const metadata = Buffer.from(JSON.stringify(bookmarkMetadata(resourceVersion, initialEventsEnd)));
    const { stored, isStored } = this.#head;
    const bytes = Buffer.from(`${stored.toString()}${isStored ? ',' : ''}"metadata":${metadata.toString()}}`);
    const identity = {
      key: '',
      name: '',
      namespace: '',
      uid: '',
      resourceVersion,
      checksum: 0,
      labels: {},
      size: 0,
      facts: this.#definition.facts({}),
    };
    const empty: CachedObject<Facts> = { ...identity, identity, bytes, length: bytes.length, metadata };
    // The client needs the annotation of the bookmark for every value of `includeObject`.
    const included =
      initialEventsEnd && this.#include === 'None' ? this.#partial.item(empty) : this.#included(empty);
    return line('BOOKMARK', this.#watchTable(resourceVersion, this.#row(empty, included)));
  }

  #line(type: WatchEventType, object: CachedObject<Facts>): Buffer {
    return line(type, this.#watchTable(object.resourceVersion, this.item(object)));
  }

  #watchTable(resourceVersion: string, row: Buffer): Buffer {
    if (!this.#columnsSent) {
      this.#columnsSent = true;
      return this.#table({ resourceVersion }, row);
    }
    return this.#closed(this.#start({ resourceVersion }, null), row);
  }

  #table(meta: ListMeta, row: Buffer): Buffer {
    return this.#closed(this.#start(meta, columnsOf(this.#definition)), row);
  }

  #closed(start: string, row: Buffer): Buffer {
    return Buffer.concat([Buffer.from(start), row, LIST_END.subarray(0, 2)]);
  }

  #start(metadata: ListMeta, columnDefinitions: readonly TableColumnDefinition[] | null): string {
    const table = { kind: 'Table', apiVersion: this.#apiVersion, metadata, columnDefinitions };
    const head = goEscaped(JSON.stringify(table));
    return `${head.slice(0, -1)},"rows":[`;
  }

  #row(object: CachedObject<Facts>, included: Buffer): Buffer {
    const now = this.#now();
    const { columns, conditions } = this.#definition;
    const cells = columns.map((column) => column.cell(object, now));
    const head = goEscaped(JSON.stringify({ cells, conditions: conditions?.(object) }));
    return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"object":`), included, ROW_END]);
  }

  #included(object: CachedObject<Facts>): Buffer {
    if (this.#include === 'Object') return joinedParts(this.#head.complete(object.bytes));
    return this.#include === 'None' ? NULL : this.#partial.item(object);
  }
}
