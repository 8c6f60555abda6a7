// A node as the platform paths show it: the cached bytes, with `metadata.selfLink` put in on the way out. The bytes
// are copied once, into the answer.
import type { CachedObject } from '../../cache/cached-object.ts';
import type { ObjectFingerprints } from '../../cache/object-fingerprints.ts';
import { memberNamed, OPEN_BRACE, objectMembers } from '../../cluster/reflector/raw-json.ts';
import type { NodeFacts } from '../../resources/nodes/node-facts.ts';

/** Annotations that are computed, not stored, as JSON members joined by commas; empty when there are none. */
export type ComputedAnnotations = (node: CachedObject<NodeFacts>) => string;

const SELF_LINK = Buffer.from('"selfLink"');

export class PlatformItem {
  readonly #path: string;
  readonly #states: ObjectFingerprints;
  readonly #computed: ComputedAnnotations | undefined;

  /** `path`: that of the list, under which each node lies. */
  constructor(path: string, states: ObjectFingerprints, computed: ComputedAnnotations | undefined) {
    this.#path = path;
    this.#states = states;
    this.#computed = computed;
  }

  /** Different for each state of the node. */
  state(node: CachedObject<NodeFacts>): string {
    return `${this.#states.of(node)} ${this.#computed?.(node) ?? ''}`;
  }

  /** The parts of the node's JSON, to be joined. */
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

/** The members of `metadata` and its closing brace, without a selfLink of its own and with annotations added. */
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

/** Stored annotations, except those under the name of a computed one. `null` stands for none, as in Go. */
function storedMembers(annotations: Buffer, computed: string): string[] {
  if (annotations[0] !== OPEN_BRACE) return [];
  return objectMembers(annotations)
    .filter(({ name }) => !computed.includes(`"${name}":`))
    .map(({ keyStart, end }) => annotations.toString('utf8', keyStart, end));
}
