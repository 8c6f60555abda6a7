import type { Member } from './raw-json.ts';
import type { ChangeType, EventMetadata } from './watch-stream.ts';

/** The target of a reflector. Objects are raw JSON in reused buffers: a sink copies what it keeps. */
export interface ReflectorSink {
  /** Starts a list. Its objects take effect at `commit`; a list without `commit` is discarded. */
  replacement(): Replacement;
  /** `metadata` and `members` of the object, if already read. */
  apply(type: ChangeType, object: Buffer, metadata?: EventMetadata, members?: readonly Member[]): void;
  /** The sink has received everything up to this resourceVersion. */
  bookmark(resourceVersion: string): void;
}

export interface Replacement {
  /** `members` of the object, if already read. */
  add(object: Buffer, members?: readonly Member[]): void;
  commit(resourceVersion: string): void;
}
