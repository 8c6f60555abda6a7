// Converts raw JSON objects from kube-apiserver to cached objects.
import { crc32 } from 'node:zlib';
import { recordIn, text, texts } from '../../apis/reading/unknown-value.ts';
import type { Member } from '../cluster/reflector/raw-json.ts';
import { SharedValues } from '../memory/shared-values.ts';
import { type SplicedObject, splice } from './object-splice.ts';
import type { ObjectIdentity } from './resource-cache.ts';
import { ObjectHead } from './resource-cache.ts';

/**
 * Memory of an object with few labels and facts, without its JSON, in bytes: identity and facts, and what lists and
 * search add after a first use, namely the search text and an entry in each sort order. Seen with 25,000 pods and six
 * sort orders: 590.
 */
const OBJECT_BYTES = 600;
/** Number of characters in keys, labels and facts that OBJECT_BYTES includes. */
const USUAL_TEXT = 400;
/** A text occurs in the facts, and again in the text for searches. */
const COPIES = 2;
/** Memory of a label or another member of an object without its characters, in bytes. Seen with 100,000 labels: 78. */
const MEMBER_BYTES = 80;
/** Number of members that OBJECT_BYTES includes. */
const USUAL_MEMBERS = 100;

/** The properties of a resource that the cache needs. ResourceDefinition implements them. */
export interface ObjectSource<Facts> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly source: { readonly path: string };
  /** True if kube-apiserver omits `kind` and `apiVersion` in the items of a list, as for its built-in kinds. */
  readonly bareItems?: boolean;
  /** `raw`: the JSON of the object, which must not be kept. */
  facts(object: unknown, raw: Buffer): Facts;
  /** Facts of objects that are stored without their bytes. Undefined if objects always have bytes. */
  readonly reduced?: ReducedFacts<Facts>;
}

/** The part of the facts that is needed without the objects. */
export interface ReducedFacts<Facts> {
  read(object: unknown, raw: Buffer): Facts;
  of(facts: Facts): Facts;
}

/** What a cache stores: objects as bytes with all facts, or only reduced facts. */
export type CacheContent = 'objects' | 'facts';

/** An object with extracted facts, whose bytes are not yet in their final buffer. */
export interface ReadObject<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  readonly spliced: SplicedObject;
}

/** The bytes of an object that is stored without them. */
const NO_BYTES: SplicedObject = { parts: [], length: 0, metadataStart: 0, metadataEnd: 0 };
const NO_LABELS = {};

/** More labels are not shared: an object with a hundred thousand labels would take long. */
const MAX_SHARED_LABELS = 256;

/** Converts raw objects of one resource. The parsed object is discarded after each call. */
export class ObjectReader<Facts> {
  readonly #source: ObjectSource<Facts>;
  readonly head: ObjectHead;
  readonly #texts = new SharedValues<string>();
  readonly #sharedLabels = new SharedValues<Readonly<Record<string, string>>>();

  constructor(source: ObjectSource<Facts>) {
    this.#source = source;
    this.head = new ObjectHead(source);
  }

  /** Throws SyntaxError for an object that cannot be stored. `members`: those of the object, if the caller has already scanned it. */
  read(raw: Buffer, members?: readonly Member[], content: CacheContent = 'objects'): ReadObject<Facts> {
    const parsed: unknown = JSON.parse(raw.toString('utf8'));
    const metadata = recordIn(parsed, 'metadata');
    const name = text(metadata['name']);
    const resourceVersion = text(metadata['resourceVersion']);
    if (name === '') throw new SyntaxError('an object without a name');
    const spliced = splice(raw, this.head.stored, members);
    const namespace = this.#texts.of(text(metadata['namespace']));
    // A signed number, which takes no memory of its own.
    const checksum = spliced.parts.reduce((sum, part) => crc32(part, sum), 0) | 0;
    const uid = text(metadata['uid']);
    const { reduced } = this.#source;
    if (content === 'facts' && reduced) {
      const facts = reduced.read(parsed, raw);
      const fields = { namespace, name, uid, resourceVersion, checksum, labels: NO_LABELS, facts };
      return { identity: new Identity(fields), spliced: NO_BYTES };
    }
    const labels = this.#labels(recordIn(metadata, 'labels'));
    const facts = this.#source.facts(parsed, raw);
    return {
      identity: new Identity({ namespace, name, uid, resourceVersion, checksum, labels, facts }),
      spliced,
    };
  }

  /** Returns an object without its bytes and its labels, and with reduced facts. */
  reduced({
    namespace,
    name,
    uid,
    resourceVersion,
    checksum,
    facts,
  }: ObjectIdentity<Facts>): ReadObject<Facts> {
    const kept = this.#source.reduced?.of(facts) ?? facts;
    const fields = { namespace, name, uid, resourceVersion, checksum, labels: NO_LABELS, facts: kept };
    return { identity: new Identity(fields), spliced: NO_BYTES };
  }

  /** Returns the labels, as one object for all objects with the same labels. */
  #labels(labels: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
    if (Object.keys(labels).length > MAX_SHARED_LABELS) return isTexts(labels) ? labels : texts(labels);
    const kept: Record<string, string> = {};
    let key = '';
    for (const [name, value] of Object.entries(labels)) {
      if (typeof value !== 'string') continue;
      kept[this.#texts.of(name)] = this.#texts.of(value);
      key += `${name}=${value}\n`;
    }
    return this.#sharedLabels.of(kept, key);
  }
}

function isTexts(labels: Readonly<Record<string, unknown>>): labels is Readonly<Record<string, string>> {
  return Object.values(labels).every((value) => typeof value === 'string');
}

/** Estimates the memory of values from their characters and members, in bytes. */
function memoryOf(...values: readonly unknown[]): number {
  let characters = 0;
  let members = 0;
  const count = (value: unknown): void => {
    if (typeof value === 'string') characters += value.length;
    if (typeof value !== 'object' || value === null) return;
    const entries: Iterable<readonly [unknown, unknown]> =
      value instanceof Map ? value : Object.entries(value);
    for (const [name, member] of entries) {
      members++;
      count(name);
      count(member);
    }
  };
  for (const value of values) count(value);
  const unusual = COPIES * Math.max(0, characters - USUAL_TEXT);
  return OBJECT_BYTES + unusual + MEMBER_BYTES * Math.max(0, members - USUAL_MEMBERS);
}

type IdentityFields<Facts> = Omit<ObjectIdentity<Facts>, 'key' | 'size'>;

/** The identity of an object in as little memory as possible: the name is a part of the key. */
export class Identity<Facts> implements ObjectIdentity<Facts> {
  readonly key: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly checksum: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly facts: Facts;
  readonly size: number;

  constructor({ namespace, name, uid, resourceVersion, checksum, labels, facts }: IdentityFields<Facts>) {
    // A concatenation would keep its parts in memory.
    this.key = namespace === '' ? name : Buffer.from(`${namespace}/${name}`).toString();
    this.namespace = namespace;
    this.uid = uid;
    this.resourceVersion = resourceVersion;
    this.checksum = checksum;
    this.labels = labels;
    this.facts = facts;
    this.size = memoryOf(this.key, labels, facts);
  }

  get name(): string {
    return this.namespace === '' ? this.key : this.key.slice(this.namespace.length + 1);
  }
}
