// Interfaces between the conformance suite and the test of a log store.
import type { LogRecord } from '../../../hack/log-stores/record.ts';
import type { LogBackend, Selection } from '../../../server/logging/store/log-store.ts';

/** A running store with records. */
export interface StartedLogStore {
  readonly store: LogBackend;
  /** All records of the store, in any order: those of `logData(…)`, or its `currentRecords()`. */
  readonly records: Iterable<LogRecord>;
  /** `ms` for a store that truncates times: order within a millisecond is not compared. */
  readonly precision: 'ns' | 'ms';
  /** Adds records of existing containers with later times; resolves when they are sent. */
  write(records: readonly LogRecord[]): Promise<void>;
  stop(): Promise<void>;
}

export interface LogStoreTraits {
  /** Selections that the store documents as not supported: the suite expects NotSupported (400). */
  readonly unsupported?: (selection: Selection) => boolean;
  /** Identity of containers in statistics; `id` by default. */
  readonly containersBy?: 'id' | 'name';
  /**
   * True for a store that does not split lines into words like pod logs. Phrases and prefixes are then compared exactly only
   * for PlainTexts, in which all stores agree.
   */
  readonly ownWords?: boolean;
  /** The suite uses only every n-th of the fixed texts, for slow stores and for variants of a store that is fully tested. */
  readonly every?: number;
  /** The same for hostile names. */
  readonly everyName?: number;
  /** Skips single levels and random selections, for a store that passes them with another version or cluster. */
  readonly core?: boolean;
  /** Random selections of each property; 20 by default. */
  readonly runs?: number;
}
