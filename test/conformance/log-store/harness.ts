// What a log store has to bring along for test/conformance/log-store.ts.
import type { LogRecord } from '../../../hack/log-stores/record.ts';
import type { LogBackend, Selection } from '../../../server/logging/log-store.ts';

/** A store that is filled and answers. */
export interface StartedLogStore {
  readonly store: LogBackend;
  /** What is in it: of `logData(…)` all records, or its `currentRecords()`. Any order. */
  readonly records: Iterable<LogRecord>;
  /** `ms` for a store that forgets nanoseconds: order within a millisecond is then not looked at. */
  readonly precision: 'ns' | 'ms';
  /** Adds records of containers that are in `records`, with later times; resolves when they are handed over. */
  write(records: readonly LogRecord[]): Promise<void>;
  stop(): Promise<void>;
}

export interface LogStoreTraits {
  /** Questions that the store documents as impossible: the suite expects NotSupported (400) for them. */
  readonly unsupported?: (selection: Selection) => boolean;
  /** What its statistics count containers by; `id` unless told otherwise. */
  readonly containersBy?: 'id' | 'name';
  /**
   * True for a store that splits lines into words by rules of its own. Phrases and prefixes are then compared where all
   * stores agree (PlainTexts), and only bounded elsewhere.
   */
  readonly ownWords?: boolean;
  /** Asks only each so-manyth of the fixed texts: for stores that read everything for each. */
  readonly every?: number;
  /** Leaves out hostile values and made-up selections: for further versions of a store that runs them all. */
  readonly core?: boolean;
  /** Selections of one property; fewer for slow stores. 60 unless told otherwise. */
  readonly runs?: number;
}
