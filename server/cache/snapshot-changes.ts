import type { CachedObject } from './cached-object.ts';
import type { Chunk } from './chunk.ts';
import type { ObjectSnapshot } from './snapshot.ts';

export interface SnapshotChanges<Facts> {
  /** Keys that are in the first snapshot and not in the second. */
  readonly removed: readonly string[];
  /** Objects of the second snapshot that the first has not, or has in another state. */
  readonly set: readonly CachedObject<Facts>[];
}

/** What leads from one snapshot to another. Costs about the chunks that they do not share. */
export function changesBetween<Facts>(
  before: ObjectSnapshot<Facts>,
  after: ObjectSnapshot<Facts>,
): SnapshotChanges<Facts> {
  if (before.chunks === after.chunks) return { removed: [], set: [] };
  const old = new Map<string, string>();
  for (const { key, resourceVersion } of objectsOutside(before.chunks, after.chunks)) {
    old.set(key, resourceVersion);
  }
  const set: CachedObject<Facts>[] = [];
  for (const object of objectsOutside(after.chunks, before.chunks)) {
    if (old.get(object.key) !== object.resourceVersion) set.push(object);
    old.delete(object.key);
  }
  return { removed: [...old.keys()], set };
}

function objectsOutside<Facts>(
  chunks: readonly Chunk<Facts>[],
  others: readonly Chunk<Facts>[],
): readonly CachedObject<Facts>[] {
  const known = new Set(others);
  return chunks.filter((chunk) => !known.has(chunk)).flatMap(({ objects }) => objects);
}
