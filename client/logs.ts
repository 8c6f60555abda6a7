// Logs: lines of containers, as pages, histograms, live tails and exports. The server limits them to the namespaces in
// which the caller has the permission `get pods/log`.
import { followEvents, type StreamEvent } from './event-stream.ts';
import type {
  LogHistogramAnswer,
  LogParameters,
  LogQueryAnswer,
  LogStatisticsAnswer,
} from './generated/platform.ts';
import { intervalOf } from './histogram-interval.ts';
import { fileNameOf, fileOf, type LogExport, type Shortfall } from './log-export.ts';
import type { StreamOptions } from './reconnecting.ts';
import { RepeatedLines } from './repeated-lines.ts';
import { chosenFile, saveBody } from './saved-file.ts';
import { StatusError } from './status-error.ts';
import { spanOf } from './time-span.ts';
import type { Transport } from './transport.ts';

/** The filters and options of a log query. An element of an array must not contain a comma. */
export type LogQuery = Omit<LogParameters, 'operation' | 'follow' | 'context' | 'before' | 'after'>;
export type LogRecord = LogQueryAnswer['query']['records'][number];
/** `none`: the line has no level. */
export type Severity = NonNullable<LogRecord['severity']>;

/** Parameters of a log query, in seconds since the epoch; both ends are included. */
export interface TimeRange {
  readonly start_time: number;
  readonly end_time: number;
}

interface Outcome {
  /** Milliseconds. */
  readonly took: number;
  /** Present if lines are missing. */
  readonly partial?: readonly Shortfall[];
}
/** A page of lines. `cursor`, with the same query, returns the next one. */
export type LogPage = LogQueryAnswer['query'] & Outcome;
export type LogHistogram = LogHistogramAnswer['histogram'] & Outcome;
/** `step`: width of the buckets in seconds. */
export type SeverityHistogram = LogHistogram & TimeRange & { readonly step: number };
export type LogStatistics = LogStatisticsAnswer['statistics'] & Outcome;

export interface LogOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface SaveOptions extends LogOptions {
  /** Called with the number of bytes that are saved so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Lines around a record. `log_query`, `match` and `case` only select highlights. */
export type ContextQuery = Pick<
  LogParameters,
  'before' | 'after' | 'highlight' | 'severity' | 'log_query' | 'match' | 'case'
>;

/** The logs of a client: `client.logs`. */
export class Logs {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  /** A page of lines. */
  async query(query: LogQuery = {}, options: LogOptions = {}): Promise<LogPage> {
    const { query: page, ...outcome } = await this.#request<LogQueryAnswer>(query, options);
    return { ...page, ...outcome };
  }

  /** The number of lines by time; with `severity`, also by severity. */
  async histogram(query: LogQuery = {}, options: LogOptions = {}): Promise<LogHistogram> {
    const response = await this.#request<LogHistogramAnswer>({ ...query, operation: 'histogram' }, options);
    const { histogram, ...outcome } = response;
    return { ...histogram, ...outcome };
  }

  /**
   * The lines of a time range by severity, in at most `max` buckets of a round width in the time zone of this
   * computer. If the log store cannot search its fields for levels, the buckets have only their number of lines.
   */
  async severities(
    query: LogQuery & TimeRange,
    max: number,
    options: LogOptions = {},
  ): Promise<SeverityHistogram> {
    const { start_time, end_time } = query;
    const step = intervalOf(end_time - start_time, max);
    const { timeZone: time_zone } = Intl.DateTimeFormat().resolvedOptions();
    const sent = { ...query, interval: spanOf(step * 1000), time_zone };
    const found = await this.histogram({ ...sent, severity: true }, options).catch((error: unknown) => {
      const isLevel = error instanceof StatusError && error.causes.some(({ field }) => field === 'severity');
      if (!isLevel) throw error;
      return this.histogram(sent, options);
    });
    return { ...found, start_time, end_time, step };
  }

  /** The number of lines and of their containers. */
  async statistics(query: LogQuery = {}, options: LogOptions = {}): Promise<LogStatistics> {
    const response = await this.#request<LogStatisticsAnswer>({ ...query, operation: 'statistics' }, options);
    const { statistics, ...outcome } = response;
    return { ...statistics, ...outcome };
  }

  /** A record, by its `id`, and the lines of its container around it, the oldest first. */
  async context(id: string, query: ContextQuery = {}, options: LogOptions = {}): Promise<LogPage> {
    const { query: page, ...outcome } = await this.#request<LogQueryAnswer>(
      { ...query, context: id },
      options,
    );
    return { ...page, ...outcome };
  }

  /**
   * New lines; with `start_time`, first the lines since then. Reconnects by itself and resumes without repeated lines,
   * also after a change of permissions (a StatusError with the reason `ScopeChanged`). Throws a StatusError that a retry
   * cannot help, for example with the reason `Limit`.
   */
  tail(query: LogQuery = {}, options: StreamOptions = {}): AsyncGenerator<LogRecord, void, undefined> {
    const lines = new RepeatedLines();
    const read = ({ event, data }: StreamEvent): LogRecord | undefined => {
      if (event === 'failure') throw failureOf(JSON.parse(data) as Shortfall);
      // The others report the position of the tail.
      if (event !== 'message') return undefined;
      const record = JSON.parse(data) as LogRecord;
      return lines.isNew(record.id) ? record : undefined;
    };
    const request = { path: this.#path, query: { ...query, follow: true } };
    return followEvents(this.#transport, request, read, options, () => lines.connected());
  }

  /** All lines as a file. Throws a StatusError that occurs before the first line. */
  async export(
    query: LogQuery & Pick<LogParameters, 'format'> = {},
    { signal }: LogOptions = {},
  ): Promise<LogExport> {
    const parameters = { ...query, operation: 'export' };
    const { exchange, response } = await this.#transport.open(this.#path, { query: parameters, signal });
    return fileOf(response, exchange.chunks(response), query.format ?? 'text');
  }

  /**
   * Exports to a file of the user, in a browser: to the disk where the browser has a dialog for files, else as a
   * download. The dialog opens only during a click. Undefined if the user closes it.
   */
  async save(
    query: LogQuery & Pick<LogParameters, 'format'> = {},
    { signal, onProgress = () => undefined }: SaveOptions = {},
  ): Promise<LogExport | undefined> {
    const file = await chosenFile(fileNameOf(query.format ?? 'text'));
    if (file === 'none') return undefined;
    const exported = await this.export(query, { signal });
    await saveBody(exported, file, onProgress);
    return exported;
  }

  #request<T>(query: LogParameters, { signal }: LogOptions): Promise<T> {
    return this.#transport.json(this.#path, { query, signal });
  }
}

/** A failure within a stream has no HTTP status. 503: a new connection can succeed. */
function failureOf({ reason, message }: Shortfall): StatusError {
  return new StatusError({ code: reason === 'Limit' ? 400 : 503, reason, message });
}
