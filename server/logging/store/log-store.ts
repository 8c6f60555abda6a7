// Interface of log stores, implemented in backends/. Callers are authorized before each call to a store.
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import {
  bySeverity,
  type Level,
  type MatchMode,
  type Severity,
} from '../../../apis/logging/v1alpha2/log-query.ts';

/** RFC 3339 in UTC with nine fractional digits, `2026-01-02T03:04:05.000000006Z`: sorts as text. */
export type Instant = string;

export interface LogRecord {
  readonly time: Instant;
  /** The line without newlines at its end; otherwise unchanged, colour codes included. */
  readonly log: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The namespaces that the caller may read, limited to those of the query. */
export type Scope =
  | { readonly everything: true }
  /** Sorted by name. Lines before `since` belong to an earlier namespace of the same name. */
  | {
      readonly everything: false;
      readonly namespaces: readonly { readonly name: string; readonly since: Instant }[];
    };

/** Filter of names. Both lists must match if both are present. A list matches if one of its values does. */
export interface NameFilter {
  readonly exact?: readonly string[] | undefined;
  /** Case-insensitive substrings. */
  readonly contains?: readonly string[] | undefined;
}

/**
 * Matches a line that contains one of the texts. `substring` has one definition for all
 * stores. `phrase` and `prefix` search for words next to each other, and each store splits lines into words by its own rules.
 * `regex` is an expression in the syntax of the store. The differences are documented in docs/log-queries.md.
 */
export interface TextFilter {
  readonly mode: MatchMode;
  readonly texts: readonly [string, ...string[]];
  readonly caseSensitive: boolean;
}

/** A set of lines; all parts must match. */
export interface Selection {
  readonly scope: Scope;
  /** From `start`, before `end`. */
  readonly range: { readonly start: Instant; readonly end: Instant };
  readonly namespaces?: NameFilter | undefined;
  readonly pods?: NameFilter | undefined;
  readonly containers?: NameFilter | undefined;
  /** Names of workloads, compared with the names of pods as defined in matching/workload-names.ts. */
  readonly workloads?: NameFilter | undefined;
  readonly text?: TextFilter | undefined;
  /** Lines of one of the levels, as defined in matching/levels.ts. */
  readonly levels?: readonly Level[] | undefined;
}

export type Order = 'asc' | 'desc';

export interface PageRequest {
  readonly order: Order;
  /** 0 requests the total only. A store that would have to read too much throws newPageTooLong(). */
  readonly size: number;
  /** Records to skip; 0 together with `after`. */
  readonly from: number;
  /** `next` of an earlier page of the same selection and order. Untrusted: it comes from the client. */
  readonly after?: string | undefined;
  /** The caller does not use the total: the store may return any lower bound. */
  readonly uncounted?: boolean;
}

/** Limits of one call, which the store applies to its own requests. */
export interface Call {
  /** Aborted when the caller disconnects or the deadline passes; cancels the request to the store. */
  readonly signal: AbortSignal;
  /** After this time in milliseconds the store returns a partial result with a Shortfall. */
  readonly timeoutMs: number;
  /** The tenant to which shared resources of the store are charged. */
  readonly caller?: string | undefined;
}

/** Deadline of a call that needs several requests to the store. Each request gets the time that is left. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly caller: string | undefined;
  readonly #end: number;
  readonly #now: () => number;

  /** `now`: monotonic milliseconds. */
  constructor({ signal, timeoutMs, caller }: Call, now: () => number) {
    this.signal = signal;
    this.caller = caller;
    this.#now = now;
    this.#end = now() + timeoutMs;
  }

  get leftMs(): number {
    return Math.max(1, Math.floor(this.#end - this.#now()));
  }

  get isOver(): boolean {
    return this.#now() >= this.#end;
  }

  /** Limits of a request that starts now. */
  call(): Call {
    return { signal: this.signal, timeoutMs: this.leftMs, caller: this.caller };
  }

  /** An earlier deadline. `part`: share of the time that is left, from 0 to 1. */
  share(part: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.max(1, this.leftMs * part) }, this.#now);
  }

  /** An earlier deadline, at most `ms` from now. */
  within(ms: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.min(ms, this.leftMs) }, this.#now);
  }

  /** The same deadline, also aborted by `signal`. */
  until(signal: AbortSignal): Deadline {
    const either = AbortSignal.any([this.signal, signal]);
    return new Deadline({ ...this.call(), signal: either }, this.#now);
  }
}

export type FollowCall = Omit<Call, 'timeoutMs'>;

export interface Coverage {
  /** Empty for a complete result. */
  readonly shortfalls: readonly Shortfall[];
}

/** Batches of an export. */
export type ExportBatches = AsyncGenerator<readonly LogRecord[], Coverage, undefined>;
/** Batches of a live tail, or of a part of an export. */
export type Batches = AsyncGenerator<readonly LogRecord[], void, undefined>;

export interface Total {
  readonly count: number;
  /** `gte` for a lower bound. */
  readonly relation: 'eq' | 'gte';
}

export interface LogPage extends Coverage {
  readonly total: Total;
  /** Sorted by time in the order of the request. The store defines the order of equal times, the same for each call. */
  readonly records: readonly LogRecord[];
  /** Position of the next page, exact also among equal times; undefined on the last page. */
  readonly next: string | undefined;
}

export interface LogStatistics extends Coverage {
  readonly logs: Total;
  /** Distinct containers: by container id if the store has it, else by namespace, pod and name. */
  readonly containers: number;
  readonly containersApproximate: boolean;
}

export interface LogHistogram extends Coverage {
  readonly total: Total;
  /** One for each bucket. */
  readonly counts: readonly number[];
  /** The same lines by severity, one list of counts for each. Present if `isBySeverity` is true. */
  readonly severities?: SeverityCounts;
}

export type SeverityCounts = Readonly<Record<Severity, readonly number[]>>;

/** The results of a selection without lines. */
export const EMPTY_PAGE: LogPage = {
  total: { count: 0, relation: 'eq' },
  records: [],
  next: undefined,
  shortfalls: [],
};
export const EMPTY_STATISTICS: LogStatistics = {
  logs: EMPTY_PAGE.total,
  containers: 0,
  containersApproximate: false,
  shortfalls: [],
};

export function emptyHistogram({ edges, isBySeverity }: Buckets): LogHistogram {
  const counts = edges.slice(1).map(() => 0);
  const severities = isBySeverity ? { severities: bySeverity(() => counts) } : {};
  return { total: EMPTY_PAGE.total, counts, ...severities, shortfalls: [] };
}

/** Bucket n is the range from edges[n] to edges[n + 1], exclusive; milliseconds since the epoch, ascending. */
export interface Buckets {
  readonly edges: readonly number[];
  /** Also requests the counts by severity. */
  readonly isBySeverity?: boolean;
}

/**
 * All methods throw the StatusErrors of store-errors.ts: StoreUnavailable (503, may be retried), StoreTimeout (504),
 * NotSupported (400, with the alternative, if the store cannot process the query).
 * test/conformance/log-store.suite.ts tests every store against this interface.
 */
export interface LogStore {
  query(selection: Selection, page: PageRequest, call: Call): Promise<LogPage>;
  statistics(selection: Selection, call: Call): Promise<LogStatistics>;
  /** Counts only lines between the first and the last edge. */
  histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram>;
  /**
   * All records in order, in batches of at most a few thousand, with bounded memory: at most a few batches are read ahead.
   * Returns the coverage; throws if the store fails midway.
   */
  export(selection: Selection, order: Order, call: Call): ExportBatches;
  /**
   * Records from `range.start` on and new records as they arrive, roughly in the order of time, until the signal is aborted
   * or the generator is closed; `range.end` is ignored. Recovers from short outages, without losing lines if the store
   * allows it; throws StoreUnavailable otherwise.
   */
  follow(selection: Selection, call: FollowCall): Batches;
}

/** A store with its health check and background work. */
export interface LogBackend extends LogStore {
  /** Health check. Rejects with the reason, without secrets; takes at most `timeoutMs`. */
  check(call: Call): Promise<void>;
  /** Background work until the signal is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** Removes newlines at the end of a line, which some collectors do not remove. Idempotent. */
export function withoutLineEnd(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\n') end--;
  return line.slice(0, end);
}
