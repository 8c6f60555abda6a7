// An export: all lines, as a file, at the pace of its reader. The first lines are read before the status is sent, so that
// an early failure is answered like any other error; a later one is reported at the end of the file.
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { isExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import { acceptsGzip } from '../../endpoints/response.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { pieces } from '../answers/record-weight.ts';
import { millisecondsOf } from '../instant.ts';
import type { Call, Coverage, ExportBatch, LogRecord, LogStore, Order } from '../log-store.ts';
import { EXPORT_FORMATS, type ExportFormat } from './export-format.ts';
import { isNotLess, type WatchedRights, watchRights } from './rights-watch.ts';
import { StreamBody } from './stream-body.ts';
import { endWhenWithdrawn, type Withdrawable } from './withdrawal.ts';

export interface ExportRequest extends WatchedRights, Withdrawable {
  readonly query: LogQuery;
  readonly call: Call;
}

export interface ExportOptions {
  readonly store: Pick<LogStore, 'export'>;
  /** Lines of one export. */
  readonly maxLines: number;
  readonly streamed: (lines: number) => void;
  /** Milliseconds since the epoch, for the name of the file. */
  readonly now: () => number;
  /** Ms between two looks at what the caller may see; 15,000 when none is given. */
  readonly reviewMs?: number;
}

type Batches = AsyncGenerator<ExportBatch, Coverage, undefined>;

/** `complete`, or `incomplete` with a marker in front of it in the file. */
const OUTCOME_TRAILER = 'Log-Export-Outcome';
const STALL_MS = 60_000;
/** Looks that may fail, one after the other: an export cannot go on later, and the cluster may be away for a moment. */
const PATIENCE = 4;

/** Resolves with what was missing. */
export async function writeExport(
  context: RequestContext,
  exporting: ExportRequest,
  { store, maxLines, streamed, now, reviewMs = 15_000 }: ExportOptions,
): Promise<readonly Shortfall[]> {
  const { request, response } = context;
  const { query, selection, call } = exporting;
  const format = EXPORT_FORMATS[query.format];
  const gzip = acceptsGzip(request);
  const writeHead = (): void => {
    // HTTP/1.0 has no trailers, nor does an answer without a body.
    const trailer = request.method !== 'HEAD' && request.httpVersion === '1.1';
    response.writeHead(200, {
      ...headersOf(format, now()),
      ...(trailer ? { Trailer: OUTCOME_TRAILER } : {}),
      ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
    });
  };
  if (request.method === 'HEAD') {
    writeHead();
    response.end();
    return [];
  }
  const over = new AbortController();
  endWhenWithdrawn(exporting, response, over);
  const signal = AbortSignal.any([call.signal, over.signal]);
  const batches = selection ? store.export(selection, query.sort, { ...call, signal }) : nothing();
  const first = await batches.next().catch((error: unknown) => {
    over.signal.throwIfAborted();
    throw error;
  });
  writeHead();
  const body = new StreamBody(response, { gzip, stallMs: STALL_MS });
  const lines = new LineWriter(body, query, { maxLines, streamed });
  using _watch = watchRights(exporting, {
    everyMs: reviewMs,
    goesOn: isNotLess,
    patience: PATIENCE,
    over,
  });
  try {
    const shortfalls = await lines.write(first, batches, over.signal);
    await lines.end(shortfalls);
    await body.end({ [OUTCOME_TRAILER]: shortfalls.length === 0 ? 'complete' : 'incomplete' });
    return shortfalls;
  } catch (error) {
    // Stores say in their own ways that they were stopped.
    const reason: unknown = over.signal.aborted ? over.signal.reason : error;
    // Throws GONE where nobody reads any more.
    await lines.end([failureOf(reason)]);
    await body.break();
    throw reason;
  } finally {
    // However it ended here, it ends in the store too.
    await batches.return({ shortfalls: [] }).catch(() => undefined);
  }
}

class LineWriter {
  readonly #body: StreamBody;
  readonly #format: ExportFormat;
  readonly #order: Order;
  readonly #maxLines: number;
  readonly #streamed: (lines: number) => void;
  #lines = 0;
  #begun = false;

  constructor(
    body: StreamBody,
    { format, sort }: Pick<LogQuery, 'format' | 'sort'>,
    { maxLines, streamed }: Pick<ExportOptions, 'maxLines' | 'streamed'>,
  ) {
    this.#body = body;
    this.#format = EXPORT_FORMATS[format];
    this.#order = sort;
    this.#maxLines = maxLines;
    this.#streamed = streamed;
  }

  /** Rejects with the signal's reason when it is aborted, whatever the store makes of that. */
  async write(
    first: IteratorResult<ExportBatch, Coverage>,
    batches: Batches,
    over: AbortSignal,
  ): Promise<readonly Shortfall[]> {
    for (let next = first; ; next = await batches.next()) {
      over.throwIfAborted();
      if (next.done) return next.value.shortfalls;
      const batch = next.value;
      const room = this.#maxLines - this.#lines;
      if (batch.length > room) {
        const cuts: Shortfall[] = [];
        await this.#records(atMost(room, batch, (beyond) => cuts.push(this.#cutBefore(beyond))));
        return cuts;
      }
      const ndjson = this.#format.isNDJSON ? batch.ndjson : undefined;
      if (ndjson) await this.#encoded(ndjson, batch.length);
      else await this.#records(batch);
    }
  }

  async #encoded(ndjson: Buffer, lines: number): Promise<void> {
    await this.#body.write(ndjson);
    this.#lines += lines;
    this.#streamed(lines);
  }

  async #records(records: Iterable<LogRecord>): Promise<void> {
    for (const piece of pieces(records)) {
      await this.#body.write(this.#head() + this.#format.lines(piece, this.#lines === 0));
      this.#lines += piece.length;
      this.#streamed(piece.length);
    }
  }

  #cutBefore({ time }: LogRecord): Shortfall {
    const parameter = this.#order === 'desc' ? 'end_time' : 'start_time';
    const cure = `${parameter}=${Math.floor(millisecondsOf(time) / 1000)}`;
    const cut = `there are more lines than the ${this.#maxLines} of one export`;
    return {
      reason: 'Limit',
      message: `${cut}; ask for the others with ${cure}: lines of that second come again`,
    };
  }

  async end(shortfalls: readonly Shortfall[]): Promise<void> {
    await this.#body.write(this.#head() + this.#format.end(shortfalls, this.#lines === 0));
  }

  #head(): string {
    if (this.#begun) return '';
    this.#begun = true;
    return this.#format.head;
  }
}

/** Tells of the first one beyond. */
function* atMost(
  count: number,
  records: Iterable<LogRecord>,
  cut: (beyond: LogRecord) => void,
): Generator<LogRecord, void, undefined> {
  let left = count;
  for (const record of records) {
    if (left-- === 0) {
      cut(record);
      return;
    }
    yield record;
  }
}

// oxlint-disable-next-line require-yield -- it is what an export without lines looks like
async function* nothing(): Batches {
  return { shortfalls: [] };
}

function headersOf({ contentType, extension }: ExportFormat, now: number) {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="logs-${time}Z.${extension}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding, Origin',
  };
}

/** Only what everybody may read. */
function failureOf(error: unknown): Shortfall {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { reason: 'Timeout', message: 'the time of one export is over' };
  }
  if (!(error instanceof StatusError)) return { reason: 'StoreFailed', message: 'the export failed midway' };
  const { code, message } = error;
  if (isExpired(error)) return { reason: 'ScopeChanged', message };
  return { reason: code === 429 ? 'Limit' : code === 504 ? 'Timeout' : 'StoreFailed', message };
}
