// Reference implementation of a log store: an array of log records. No code is shared with the real log stores.
import { bySeverity, type Severity } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { LogRecord as StoredRecord } from '../../../hack/log-stores/record.ts';
import type {
  Batches,
  Buckets,
  Call,
  ExportBatches,
  LogBackend,
  LogHistogram,
  LogPage,
  LogRecord,
  LogStatistics,
  Order,
  PageRequest,
  Selection,
} from '../../../server/logging/store/log-store.ts';
import { levelsOf } from './brute-force/levels.ts';
import { selects } from './brute-force/selection.ts';

interface MemoryLogStoreOptions {
  /** Identity of containers; `id` by default. */
  readonly containersBy?: 'id' | 'name';
}

const BATCH = 1_000;

export class MemoryLogStore implements LogBackend {
  #records: readonly StoredRecord[] = [];
  readonly #containersBy: 'id' | 'name';
  /** Live tails that wait for records. */
  readonly #waiting = new Set<() => void>();

  constructor(records: Iterable<StoredRecord>, { containersBy = 'id' }: MemoryLogStoreOptions = {}) {
    this.#containersBy = containersBy;
    this.write(records);
  }

  write(records: Iterable<StoredRecord>): void {
    this.#records = [...this.#records, ...records].sort((a, b) => compare(a.time, b.time));
    for (const wake of this.#waiting) wake();
  }

  get records(): readonly StoredRecord[] {
    return this.#records;
  }

  async query(selection: Selection, { order, size, from, after }: PageRequest, call: Call): Promise<LogPage> {
    call.signal.throwIfAborted();
    const found = this.#found(selection, order);
    const begin = after === undefined ? from : placeOf(after, found.length);
    const end = begin + size;
    return {
      total: { count: found.length, relation: 'eq' },
      records: found.slice(begin, end).map(toLogRecord),
      next: size > 0 && end < found.length ? String(end) : undefined,
      shortfalls: [],
    };
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    call.signal.throwIfAborted();
    const found = this.#found(selection, 'asc');
    return {
      logs: { count: found.length, relation: 'eq' },
      containers: new Set(found.map((record) => this.#containerOf(record))).size,
      containersApproximate: false,
      shortfalls: [],
    };
  }

  async histogram(selection: Selection, { edges, isBySeverity }: Buckets, call: Call): Promise<LogHistogram> {
    call.signal.throwIfAborted();
    const borders = edges.map((edge) => `${new Date(edge).toISOString().slice(0, -1)}000000Z`);
    const found = this.#found(selection, 'asc');
    const countsOf = (records: readonly StoredRecord[]): number[] =>
      borders.slice(1).map((border, index) => {
        const begin = borders[index] ?? border;
        return records.filter(({ time }) => begin <= time && time < border).length;
      });
    const counts = countsOf(found);
    const severityOf = ({ log }: StoredRecord): Severity => levelsOf(log).at(-1) ?? 'none';
    const severities = (severity: Severity): number[] =>
      countsOf(found.filter((record) => severityOf(record) === severity));
    const count = counts.reduce((sum, one) => sum + one, 0);
    return {
      total: { count, relation: 'eq' },
      counts,
      ...(isBySeverity ? { severities: bySeverity(severities) } : {}),
      shortfalls: [],
    };
  }

  async *export(selection: Selection, order: Order, call: Call): ExportBatches {
    const found = this.#found(selection, order);
    for (let begin = 0; begin < found.length; begin += BATCH) {
      call.signal.throwIfAborted();
      yield found.slice(begin, begin + BATCH).map(toLogRecord);
    }
    return { shortfalls: [] };
  }

  async *follow(selection: Selection, { signal }: Pick<Call, 'signal'>): Batches {
    const endless = { ...selection, range: { start: selection.range.start, end: '9999' } };
    const seen = new Set<StoredRecord>();
    while (!signal.aborted) {
      const { promise: more, resolve: wake } = Promise.withResolvers<void>();
      this.#waiting.add(wake);
      signal.addEventListener('abort', () => wake(), { once: true });
      const fresh = this.#found(endless, 'asc').filter((record) => !seen.has(record));
      for (const record of fresh) seen.add(record);
      if (fresh.length > 0) yield fresh.map(toLogRecord);
      else await more;
      this.#waiting.delete(wake);
    }
  }

  async check(): Promise<void> {}

  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
  }

  #found(selection: Selection, order: Order): StoredRecord[] {
    const found = this.#records.filter(selects(selection));
    return order === 'asc' ? found : found.reverse();
  }

  #containerOf({
    kubernetes: { docker_id, namespace_name, pod_name, container_name },
  }: StoredRecord): string {
    return this.#containersBy === 'id' ? docker_id : `${namespace_name}/${pod_name}/${container_name}`;
  }
}

export function toLogRecord({ time, log, kubernetes }: StoredRecord): LogRecord {
  const { namespace_name: namespace, pod_name: pod, container_name: container } = kubernetes;
  return { time, log, namespace, pod, container };
}

/** The cursor of another store leads to an empty page. */
function placeOf(cursor: string, end: number): number {
  return /^\d{1,9}$/.test(cursor) ? Number(cursor) : end;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
