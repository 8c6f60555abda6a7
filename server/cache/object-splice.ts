import { type Member, memberNamed, objectMembers } from '../cluster/reflector/raw-json.ts';

/** How many bytes an object has and which of them are its metadata. */
export interface ObjectExtent {
  readonly length: number;
  /** Where the value of `metadata` lies. */
  readonly metadataStart: number;
  readonly metadataEnd: number;
}

/** An object's JSON as the parts that make it up with another `kind` and `apiVersion`, not yet copied together. */
export interface SplicedObject extends ObjectExtent {
  readonly parts: readonly Buffer[];
}

const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** `{"kind":…,"apiVersion":…` without an end: what `splice` puts in front of the other members. */
export function objectHead(kind: string, group: string, version: string): Buffer {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`);
}

/**
 * Replaces `kind` and `apiVersion` of the object by those of `head`, wherever they stand or if they stand nowhere:
 * core objects bear them in front, custom resources the other way round, items of a list not at all. Every other byte
 * stays as it came. `members` are those of the object, where they are known.
 */
export function splice(
  raw: Buffer,
  head: Buffer,
  members: readonly Member[] = objectMembers(raw),
): SplicedObject {
  // Every byte keeps its place.
  const bytes = withoutNewlines(raw);
  const metadata = memberNamed(members, 'metadata');
  if (!metadata) throw new SyntaxError('an object without metadata');
  const parts = [head];
  let length = head.length;
  let metadataStart = 0;
  for (const member of members) {
    if (member.name === 'kind' || member.name === 'apiVersion') continue;
    if (member === metadata) metadataStart = length + 1 + (member.start - member.keyStart);
    parts.push(COMMA, bytes.subarray(member.keyStart, member.end));
    length += 1 + member.end - member.keyStart;
  }
  parts.push(CLOSE);
  const metadataEnd = metadataStart + metadata.end - metadata.start;
  return { parts, length: length + 1, metadataStart, metadataEnd };
}

/** Copies the object to `target` at `offset`. Returns where it ends. */
export function writeSpliced(object: SplicedObject, target: Buffer, offset: number): number {
  let at = offset;
  for (const part of object.parts) at += part.copy(target, at);
  return at;
}

/** The same object with another `metadata.resourceVersion`; `metadata` is a slice of `bytes`. */
export function withResourceVersion(bytes: Buffer, metadata: Buffer, resourceVersion: string): SplicedObject {
  const start = metadata.byteOffset - bytes.byteOffset;
  const member = memberNamed(objectMembers(metadata), 'resourceVersion');
  if (!member) throw new SyntaxError('an object without resourceVersion');
  const value = Buffer.from(JSON.stringify(resourceVersion));
  const parts = [bytes.subarray(0, start + member.start), value, bytes.subarray(start + member.end)];
  const growth = value.length - (member.end - member.start);
  return {
    parts,
    length: bytes.length + growth,
    metadataStart: start,
    metadataEnd: start + metadata.length + growth,
  };
}

/** Newlines can only stand between JSON's tokens; as spaces they let one object be one line. */
function withoutNewlines(raw: Buffer): Buffer {
  if (!raw.includes(0x0a)) return raw;
  return Buffer.from(raw.map((byte) => (byte === 0x0a ? 0x20 : byte)));
}
