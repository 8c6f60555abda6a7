// The JSON of one node in the node list for consoles (`/kapis`): the cached bytes, with `metadata.selfLink` and
// computed annotations added. The bytes are copied only once, into the response.

import type { ObjectFingerprints } from '../../cache/object-fingerprints.ts';
import type { CachedObject } from '../../cache/resource-cache.ts';
import { memberNamed, OPEN_BRACE, objectMembers } from '../../cluster/reflector/raw-json.ts';
import type { NodeFacts } from '../../resources/nodes/node-facts.ts';

/** Returns the computed annotations of a node as JSON fields, separated by commas; empty if there are none. */
export type ComputedAnnotations = (node: CachedObject<NodeFacts>) => string;

const SELF_LINK = Buffer.from('"selfLink"');

export class PlatformItem {
  readonly #path: string;
  readonly #states: ObjectFingerprints;
  readonly #computed: ComputedAnnotations | undefined;

  /** `path`: the path of the list, for selfLink. */
  constructor(path: string, states: ObjectFingerprints, computed: ComputedAnnotations | undefined) {
    this.#path = path;
    this.#states = states;
    this.#computed = computed;
  }

  /** Returns a fingerprint of the node and its computed annotations. */
  state(node: CachedObject<NodeFacts>): string {
    return `${this.#states.of(node)} ${this.#computed?.(node) ?? ''}`;
  }

  /** Returns the parts of the node's JSON. */
  parts(node: CachedObject<NodeFacts>): readonly Buffer[] {
    const { bytes, metadata } = node;
    const start = metadata.byteOffset - bytes.byteOffset;
    const link = Buffer.from(`"selfLink":"${this.#path}/${encodeURIComponent(node.name)}",`);
    const computed = this.#computed?.(node) ?? '';
    if (computed === '' && !metadata.includes(SELF_LINK)) {
      return [bytes.subarray(0, start + 1), link, bytes.subarray(start + 1)];
    }
    return [
      bytes.subarray(0, start + 1),
      link,
      ...rewritten(metadata, computed),
      bytes.subarray(start + metadata.length),
    ];
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
