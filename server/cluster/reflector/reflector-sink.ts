import type { Member } from './raw-json.ts';
import type { ChangeType, EventMetadata } from './watch-stream.ts';

/** Where the reflector writes. Objects are raw JSON in bytes that are reused: a sink copies what it keeps. */
export interface ReflectorSink {
  /** A complete list begins to arrive. Nothing of it counts before `commit`; it may be dropped without a word. */
  replacement(): Replacement;
  /** `metadata` and `members` are those of the object, where they had to be read anyway. */
  apply(type: ChangeType, object: Buffer, metadata?: EventMetadata, members?: readonly Member[]): void;
  /** Everything up to this resourceVersion has been applied. */
  bookmark(resourceVersion: string): void;
}

export interface Replacement {
  /** `members` are those of the object, where they are known already. */
  add(object: Buffer, members?: readonly Member[]): void;
  commit(resourceVersion: string): void;
}
