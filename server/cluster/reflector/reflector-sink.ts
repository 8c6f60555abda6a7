// Interface of the stores that a reflector fills.
import type { Member } from './raw-json.ts';
import type { ChangeType, EventMetadata } from './watch-stream.ts';

/** The target of a reflector. Objects are raw JSON in reused buffers, so a sink copies what it stores. */
export interface ReflectorSink {
  /** Starts a list. `commit` replaces the content of the sink; a list without `commit` is discarded. */
  replacement(): Replacement;
  /** Applies a watch event. `metadata` and `members`: those of the object, if the caller has already scanned it. */
  apply(type: ChangeType, object: Buffer, metadata?: EventMetadata, members?: readonly Member[]): void;
  /** The sink has received everything up to this resourceVersion. */
  bookmark(resourceVersion: string): void;
}

export interface Replacement {
  /** `members`: those of the object, if the caller has already scanned it. */
  add(object: Buffer, members?: readonly Member[]): void;
  commit(resourceVersion: string): void;
}
