// Scope of a log query: the namespaces in which the caller may `get pods/log`. Queries fail if the permissions cannot be
// checked, and records outside the scope are omitted.
import type { Logger } from 'pino';
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { UserInfo } from '../../authentication/user.ts';
import type { NamespaceScopes } from '../../authorization/namespace-scopes.ts';
import { nameMatcher } from '../matching/name-filter.ts';
import { instantOf } from '../store/instant.ts';
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
  NameFilter,
  Order,
  PageRequest,
  Scope,
  Selection,
} from '../store/log-store.ts';

const GET_POD_LOGS = { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log' };

export class Scopes {
  readonly #scopes: Pick<NamespaceScopes, 'of'>;

  constructor(scopes: Pick<NamespaceScopes, 'of'>) {
    this.#scopes = scopes;
  }

  /** The scope of the caller for the namespaces of a query. Throws ServiceUnavailable if the cluster is unavailable. */
  async of(
    user: UserInfo,
    filter: NameFilter | undefined,
    call: { readonly signal: AbortSignal },
  ): Promise<Scope> {
    // A filter by substrings requires a check of all namespaces. Otherwise the response time would reveal which
    // namespaces exist.
    const scope = await this.#scopes.of(user, GET_POD_LOGS, filter?.exact, call);
    if (scope.everything) return scope;
    const isSelected = nameMatcher(filter);
    const namespaces = scope.namespaces
      .filter(({ name }) => isSelected(name))
      // Whole seconds: includes the lines of an earlier namespace of the same name in the same second.
      .map(({ name, createdAt }) => ({ name, since: instantOf(createdAt) }));
    return { everything: false, namespaces };
  }
}

/** Without the number of records, which may belong to other callers. */
const OMITTED: Shortfall = {
  reason: 'NotCovered',
  message:
    'the log store returned lines that do not belong to one of these namespaces, or to several namespaces; they are omitted',
};

/**
 * Log store that omits records outside the scope of the caller. Stores apply the scope to their queries; this check
 * covers stores that return other records, and records that have several namespaces.
 */
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
