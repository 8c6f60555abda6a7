// The interface between the log query handler and every store. Implemented by each folder of backends/; the meaning is
// checked by test/conformance/log-store.ts. Access is decided before a store is asked.
import type { Shortfall } from '../../apis/logging/v1alpha2/log-answer.ts';
import type { Level, MatchMode } from '../../apis/logging/v1alpha2/log-query.ts';

/** RFC 3339 in UTC with nine digits behind the second, `2026-01-02T03:04:05.000000006Z`: comparable as text. */
export type Instant = string;

export interface LogRecord {
  readonly time: Instant;
  /** The line without newlines at its end; everything else, colour codes included, as it was written. */
  readonly log: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The namespaces that the caller may read, with the names that were asked for already applied. */
export type Scope =
  | { readonly everything: true }
  /** Sorted by name. Of each namespace what was written at `since` or later: before that, another one had the name. */
  | {
      readonly everything: false;
      readonly namespaces: readonly { readonly name: string; readonly since: Instant }[];
    };

/** Both parts hold when both are given; within a part, one of them has to. An empty list finds nothing. */
export interface NameFilter {
  readonly exact?: readonly string[];
  /** Texts somewhere in the name, whatever their case. */
  readonly contains?: readonly string[];
}

/** What a line has to say: one of the texts. matching/ defines precisely what that means. */
export interface TextFilter {
  readonly mode: MatchMode;
  readonly texts: readonly [string, ...string[]];
  readonly caseSensitive: boolean;
}

/** Which lines; all parts hold. */
export interface Selection {
  readonly scope: Scope;
  /** From `start`, before `end`. */
  readonly range: { readonly start: Instant; readonly end: Instant };
  readonly namespaces?: NameFilter;
  readonly pods?: NameFilter;
  readonly containers?: NameFilter;
  /** By the names that controllers give to pods: what that means is defined in matching/workload-names.ts. */
  readonly workloads?: NameFilter;
  readonly text?: TextFilter;
  /** One of these, as matching/levels.ts tells it from the line. */
  readonly levels?: readonly Level[];
}

export type Order = 'asc' | 'desc';

export interface PageRequest {
  readonly order: Order;
  /** 0 asks for the total alone. A store that would have to read too much for it throws newPageTooLong(). */
  readonly size: number;
  /** Records to skip; 0 together with `after`. */
  readonly from: number;
  /** `next` of an earlier page of the same selection and order; from outside, so read it as untrusted. */
  readonly after?: string;
  /** The total does not matter: any lower bound will do, where the exact one costs more than the page. */
  readonly uncounted?: boolean;
}

/** Limits of one call. A store passes them on to its own requests. */
export interface Call {
  /** Aborted when the caller has gone or the deadline has passed; ends the work in the store too. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left; after it, what was found so far is answered with a Shortfall. */
  readonly timeoutMs: number;
  /** Whose share it counts for, where the store has only so much for all. */
  readonly caller?: string;
}

export type FollowCall = Omit<Call, 'timeoutMs'>;

/** Some records of an export, in order; a list of them is one. */
export interface ExportBatch extends Iterable<LogRecord> {
  readonly length: number;
  /**
   * The same records, where the store writes them like this: UTF-8, a JSON object and a newline for each, whose members
   * are those of LogRecord in the order time, namespace, pod, container, log.
   */
  readonly ndjson?: Buffer;
}

export interface Coverage {
  /** What is missing from the answer; empty when it is complete. */
  readonly shortfalls: readonly Shortfall[];
}

export interface Total {
  readonly count: number;
  /** `gte` when there may be more. */
  readonly relation: 'eq' | 'gte';
}

export interface LogPage extends Coverage {
  readonly total: Total;
  /**
   * By time in the order asked for; the order within equal times is the store's, and the same at every call. The list
   * belongs to who asked.
   */
  readonly records: LogRecord[];
  /** Where the next page goes on, without skipping or repeating lines of equal times; undefined behind the last. */
  readonly next: string | undefined;
}

export interface LogStatistics extends Coverage {
  readonly logs: Total;
  /** Different containers: by the id of the container where the store has it, else by namespace, pod and name. */
  readonly containers: number;
  readonly containersApproximate: boolean;
}

export interface LogHistogram extends Coverage {
  readonly total: Total;
  /** One for each bucket. */
  readonly counts: readonly number[];
}

/** Bucket n goes from edges[n] to edges[n + 1], exclusive; milliseconds since the epoch, ascending. */
export interface Buckets {
  readonly edges: readonly number[];
}

/**
 * All methods throw StatusErrors of store-errors.ts: StoreUnavailable (503, to be tried again), StoreTimeout (504),
 * NotSupported (400, when the store cannot answer such a question, with the cure).
 */
export interface LogStore {
  query(selection: Selection, page: PageRequest, call: Call): Promise<LogPage>;
  statistics(selection: Selection, call: Call): Promise<LogStatistics>;
  /** Counts only what lies between the first and the last edge. */
  histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram>;
  /**
   * All records in order, in batches of at most some thousands, with bounded memory: the next batch is fetched when
   * it is asked for, or a few ahead. What was not covered comes as the return value; a failure midway throws.
   */
  export(selection: Selection, order: Order, call: Call): AsyncGenerator<ExportBatch, Coverage, undefined>;
  /**
   * Records from `range.start` on, then those that come, roughly in the order of time, until the signal is aborted or
   * the reader stops; `range.end` does not count. Heals itself after short failures without losing lines where the
   * store allows it; throws StoreUnavailable when it cannot.
   */
  follow(selection: Selection, call: FollowCall): AsyncGenerator<readonly LogRecord[], void, undefined>;
}

/** A store with what its owner needs: its health, and a run that ends. */
export interface LogBackend extends LogStore {
  /** Resolves when the store answers; rejects with the reason, without secrets. At most `timeoutMs`. */
  check(call: Call): Promise<void>;
  /** Follows what it needs to follow until the signal is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}
