// Log store that omits records outside the scope of the caller. Stores apply the scope to their queries; this check
// covers stores that return other records, and records that have several namespaces.
import type { Logger } from 'pino';
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type {
  Batches,
  Buckets,
  Call,
  ExportBatches,
  FollowCall,
  LogHistogram,
  LogPage,
  LogRecord,
  LogStatistics,
  LogStore,
  Order,
  PageRequest,
  Scope,
  Selection,
} from '../store/log-store.ts';

/** Without the number of records, which may belong to other callers. */
const OMITTED: Shortfall = {
  reason: 'NotCovered',
  message:
    'the log store returned lines that do not belong to one of these namespaces, or to several namespaces; they are omitted',
};

export class ScopedLogStore implements LogStore {
  readonly #store: LogStore;
  readonly #log: Pick<Logger, 'warn'>;
  #hasWarned = false;

  constructor(store: LogStore, log: Pick<Logger, 'warn'>) {
    this.#store = store;
    this.#log = log;
  }

  async query(selection: Selection, request: PageRequest, call: Call): Promise<LogPage> {
    const page = await this.#store.query(selection, request, call);
    const records = this.#within(selection.scope)(page.records);
    if (records === page.records) return page;
    return { ...page, records, shortfalls: [...page.shortfalls, OMITTED] };
  }

  statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    return this.#store.statistics(selection, call);
  }

  histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    return this.#store.histogram(selection, buckets, call);
  }

  async *export(selection: Selection, order: Order, call: Call): ExportBatches {
    const within = this.#within(selection.scope);
    const batches = this.#store.export(selection, order, call);
    let isComplete = true;
    try {
      for (let next = await batches.next(); ; next = await batches.next()) {
        if (next.done) {
          const { shortfalls } = next.value;
          return { shortfalls: isComplete ? shortfalls : [...shortfalls, OMITTED] };
        }
        const records = within(next.value);
        if (records !== next.value) isComplete = false;
        if (records.length > 0) yield records;
      }
    } finally {
      await batches.return({ shortfalls: [] });
    }
  }

  async *follow(selection: Selection, call: FollowCall): Batches {
    const within = this.#within(selection.scope);
    for await (const batch of this.#store.follow(selection, call)) {
      const records = within(batch);
      if (records.length > 0) yield records;
    }
  }

  /** Returns a function that removes the records outside the scope; without such records, it returns the same list. */
  #within(scope: Scope): (records: readonly LogRecord[]) => readonly LogRecord[] {
    if (scope.everything) return (records) => records;
    const sinces = new Map(scope.namespaces.map(({ name, since }) => [name, since]));
    const isWithin = ({ namespace, time }: LogRecord): boolean => {
      const since = sinces.get(namespace);
      return since !== undefined && time >= since;
    };
    return (records) => {
      if (records.every(isWithin)) return records;
      this.#warn();
      return records.filter(isWithin);
    };
  }

  /** Once, because a tenant may cause each of these records. */
  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      'the log store returned lines outside the namespaces of a query, or with several namespaces; see docs/log-stores.md',
    );
  }
}
