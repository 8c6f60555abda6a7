// Replaces `kind`, `apiVersion` and `metadata.resourceVersion` in the JSON text of an object. All other values stay
// unchanged.
import { type Member, memberNamed, objectMembers } from '../cluster/reflector/raw-json.ts';

/** The length of an object and the position of its metadata. */
export interface ObjectExtent {
  readonly length: number;
  /** Offsets of the value of `metadata`. */
  readonly metadataStart: number;
  readonly metadataEnd: number;
}

/** The parts of an object's JSON with a different `kind` and `apiVersion`, not yet concatenated. */
export interface SplicedObject extends ObjectExtent {
  readonly parts: readonly Buffer[];
}

const COMMA = Buffer.from(',');
/** Length of the opening brace of an object. */
const OPEN_LENGTH = 1;
const CLOSE = Buffer.from('}');

/**
 * Replaces `kind` and `apiVersion` by those of `head`. Both can be at any position or missing: core objects start with
 * them, custom resources have the other order, and items of a list do not have them. `members`: those of the object, if
 * the caller has already scanned it.
 */
export function splice(
  raw: Buffer,
  head: Buffer,
  members: readonly Member[] = objectMembers(raw),
): SplicedObject {
  // Each newline becomes a space, so the offsets stay valid.
  const bytes = withoutNewlines(raw);
  const metadata = memberNamed(members, 'metadata');
  if (!metadata) throw new SyntaxError('an object without metadata');
  const parts = [head];
  let length = head.length;
  let metadataStart = 0;
  // Neighbours are one part, because an object can have any number of members.
  let runStart = -1;
  let runEnd = -1;
  const endRun = (): void => {
    if (runStart < 0) return;
    parts.push(bytes.subarray(runStart, runEnd));
    length += runEnd - runStart;
    runStart = -1;
  };
  for (const member of members) {
    if (member.name === 'kind' || member.name === 'apiVersion') {
      endRun();
      continue;
    }
    if (runStart < 0) {
      if (length > OPEN_LENGTH) {
        parts.push(COMMA);
        length += COMMA.length;
      }
      runStart = member.keyStart;
    }
    if (member === metadata) metadataStart = length + (member.start - runStart);
    runEnd = member.end;
  }
  endRun();
  parts.push(CLOSE);
  const metadataEnd = metadataStart + metadata.end - metadata.start;
  return { parts, length: length + 1, metadataStart, metadataEnd };
}

/** Writes the parts to `target` at `offset`. Returns the end offset. */
export function writeSpliced(object: SplicedObject, target: Buffer, offset: number): number {
  let at = offset;
  for (const part of object.parts) at += part.copy(target, at);
  return at;
}

/** Returns the object with a different `metadata.resourceVersion`; `metadata` is a slice of `bytes`. */
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

/** Replaces newlines by spaces, so that the object is one line. In JSON, newlines occur only between tokens. */
function withoutNewlines(raw: Buffer): Buffer {
  if (!raw.includes(0x0a)) return raw;
  return Buffer.from(raw.map((byte) => (byte === 0x0a ? 0x20 : byte)));
}
