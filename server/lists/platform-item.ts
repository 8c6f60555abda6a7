// The JSON of an object under `/kapis`: the stored JSON, or only its metadata, with `metadata.selfLink` and computed annotations. The
// stored bytes are copied once, into the response.

import { OPEN_BRACE } from '../../apis/reading/json-bytes.ts';
import type { IncludedObject } from '../../apis/resources/v1alpha3/resource-query.ts';
import type { CachedObject, ObjectHead, ObjectIdentity } from '../cache/resource-cache.ts';
import { memberNamed, objectMembers } from '../cluster/reflector/raw-json.ts';

/** Returns the computed annotations of an object as JSON fields, separated by commas; empty if there are none. */
export type ComputedAnnotations<Facts> = (object: ObjectIdentity<Facts>) => string;

/** The place of the objects in URLs. */
interface ItemPath {
  /** Path of the group and version. */
  readonly path: string;
  /** The resource in paths, for instance `pods` or `widgets.example.com`. */
  readonly resource: string;
}

const PARTIAL = Buffer.from('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{');
const CLOSE = Buffer.from('}');
const SELF_LINK = Buffer.from('"selfLink"');

export class PlatformItem<Facts> {
  readonly #place: ItemPath;
  readonly #computed: ComputedAnnotations<Facts> | undefined;
  readonly #head: ObjectHead;

  constructor(place: ItemPath, head: ObjectHead, computed: ComputedAnnotations<Facts> | undefined) {
    this.#place = place;
    this.#head = head;
    this.#computed = computed;
  }

  /** Returns the path of an object. */
  link({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
    const { path, resource } = this.#place;
    const scope = namespace === '' ? '' : `/namespaces/${namespace}`;
    return `${path}${scope}/${resource}/${encodeURIComponent(name)}`;
  }

  /**
   * Returns a fingerprint of the object and its computed annotations, equal on all replicas. After a restore of etcd, the
   * same resourceVersion can have different content, which the checksum detects.
   */
  state(object: ObjectIdentity<Facts>): string {
    const { uid, resourceVersion, checksum } = object;
    return `${uid} ${resourceVersion} ${checksum} ${this.#computed?.(object) ?? ''}`;
  }

  /** Returns the parts of the object's JSON. */
  parts(object: CachedObject<Facts>, included: IncludedObject = 'Object'): readonly Buffer[] {
    const { bytes, metadata } = object;
    const start = metadata.byteOffset - bytes.byteOffset;
    const isWhole = included === 'Object';
    const head = isWhole ? this.#head.complete(bytes.subarray(0, start + 1)) : [PARTIAL];
    const link = Buffer.from(`"selfLink":"${this.link(object)}",`);
    const computed = this.#computed?.(object) ?? '';
    const end = isWhole ? bytes.subarray(start + metadata.length) : CLOSE;
    if (computed !== '' || metadata.includes(SELF_LINK)) {
      return [...head, link, ...rewritten(metadata, computed), end];
    }
    return isWhole ? [...head, link, bytes.subarray(start + 1)] : [...head, link, metadata.subarray(1), end];
  }
}

/**
 * Returns the fields of `metadata` and its closing brace. A selfLink that the cluster stores is removed, and the
 * computed annotations are added.
 */
function rewritten(metadata: Buffer, computed: string): readonly Buffer[] {
  const members = objectMembers(metadata).filter(({ name }) => name !== 'selfLink');
  const annotations = memberNamed(members, 'annotations');
  const kept = members
    .filter((member) => computed === '' || member.name !== 'annotations')
    .map(({ keyStart, end }) => metadata.toString('utf8', keyStart, end));
  if (computed !== '') {
    const stored = annotations ? metadata.subarray(annotations.start, annotations.end) : Buffer.from('{}');
    kept.push(`"annotations":{${[...storedMembers(stored, computed), computed].join(',')}}`);
  }
  return [Buffer.from(`${kept.join(',')}}`)];
}

/** Returns the stored annotations except those with computed values. `null` means no annotations, as in Go. */
function storedMembers(annotations: Buffer, computed: string): string[] {
  if (annotations[0] !== OPEN_BRACE) return [];
  return objectMembers(annotations)
    .filter(({ name }) => !computed.includes(`"${name}":`))
    .map(({ keyStart, end }) => annotations.toString('utf8', keyStart, end));
}
