// Writes a log export to the HTTP response: a file with all selected lines. A failure after the first lines is
// reported at the end of the file.
import type { Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { isExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import type { TimeSlicer, TimeSlices } from '../../concurrency/time-slicer.ts';
import { acceptsGzip } from '../../http/response-writer.ts';
import { StreamBody } from '../../http/stream-body.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { pieces } from '../queries/responses.ts';
import { millisecondsOf } from '../store/instant.ts';
import type { Call, Coverage, ExportBatches, LogRecord, LogStore, Order } from '../store/log-store.ts';
import { EXPORT_FORMATS, type ExportFormat } from './export-format.ts';
import {
  endWhenPreempted,
  includesScope,
  type Preemptible,
  type ReviewedSelection,
  reviewPermissions,
} from './stream-end.ts';

export interface ExportRequest extends ReviewedSelection, Preemptible {
  readonly query: LogQuery;
  readonly call: Call;
}

interface ExportOptions {
  readonly store: Pick<LogStore, 'export'>;
  readonly slicer: TimeSlicer;
  /** Maximum number of lines of one export. */
  readonly maxLines: number;
  readonly streamed: (lines: number) => void;
  /** Milliseconds since the epoch, for the file name. */
  readonly now: () => number;
  /** Interval of permission reviews in ms; 15,000 by default. */
  readonly reviewMs?: number;
}

/** `complete`, or `incomplete` if the file ends with a marker. */
const OUTCOME_TRAILER = 'Log-Export-Outcome';
const BYTE_ORDER_MARK = '\ufeff';
const STALL_MS = 60_000;
/** Tolerated failures of permission reviews: an export cannot resume after a short outage of the cluster. */
const REVIEW_TOLERANCE = 4;

/** Resolves with the shortfalls. */
export async function writeExport(
  context: RequestContext,
  request: ExportRequest,
  { store, slicer, maxLines, streamed, now, reviewMs = 15_000 }: ExportOptions,
): Promise<readonly Shortfall[]> {
  const { response } = context;
  const { query, selection, call } = request;
  const { method, httpVersion } = context.request;
  const gzip = acceptsGzip(context.request);
  const writeHead = (): void => {
    // HTTP/1.0 and responses without a body have no trailers.
    const trailer = method !== 'HEAD' && httpVersion === '1.1';
    response.writeHead(200, {
      ...headersOf(EXPORT_FORMATS[query.format], now()),
      ...(trailer ? { Trailer: OUTCOME_TRAILER } : {}),
      ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
    });
  };
  if (method === 'HEAD') {
    writeHead();
    response.end();
    return [];
  }
  const over = new AbortController();
  endWhenPreempted(request, response, over);
  const signal = AbortSignal.any([call.signal, over.signal]);
  const batches = selection ? store.export(selection, query.sort, { ...call, signal }) : emptyExport();
  // Read before the status is sent, so that an early failure returns an ordinary error.
  const first = await batches.next().catch((error: unknown) => {
    over.signal.throwIfAborted();
    throw error;
  });
  writeHead();
  const body = new StreamBody(response, { gzip, stallMs: STALL_MS });
  const writer = new ExportWriter(body, query, { maxLines, streamed, slices: slicer.of(context) });
  using _review = reviewPermissions(request, {
    intervalMs: reviewMs,
    mayContinue: includesScope,
    tolerance: REVIEW_TOLERANCE,
    over,
  });
  try {
    const shortfalls = await writer.write(first, batches, over.signal);
    await writer.end(shortfalls);
    await body.end({ [OUTCOME_TRAILER]: shortfalls.length === 0 ? 'complete' : 'incomplete' });
    return shortfalls;
  } catch (error) {
    // An aborted store throws another error.
    const reason: unknown = over.signal.aborted ? over.signal.reason : error;
    // Throws GONE if the reader has disconnected.
    await writer.end([shortfallOf(reason)]);
    await body.break();
    throw reason;
  } finally {
    await batches.return({ shortfalls: [] }).catch(() => undefined);
  }
}

interface WriterOptions extends Pick<ExportOptions, 'maxLines' | 'streamed'> {
  readonly slices: TimeSlices;
}

class ExportWriter {
  readonly #body: StreamBody;
  readonly #format: ExportFormat;
  readonly #order: Order;
  readonly #options: WriterOptions;
  #lines = 0;
  /** Written before the first line. */
  #head: string;

  constructor(
    body: StreamBody,
    { format, sort, bom }: Pick<LogQuery, 'format' | 'sort' | 'bom'>,
    options: WriterOptions,
  ) {
    this.#body = body;
    this.#format = EXPORT_FORMATS[format];
    this.#head = format === 'csv' && bom ? `${BYTE_ORDER_MARK}${this.#format.head}` : this.#format.head;
    this.#order = sort;
    this.#options = options;
  }

  /** Rejects with the signal's reason when it is aborted. */
  async write(
    first: IteratorResult<readonly LogRecord[], Coverage>,
    batches: ExportBatches,
    over: AbortSignal,
  ): Promise<readonly Shortfall[]> {
    const { maxLines, streamed, slices } = this.#options;
    for (let next = first; ; next = await batches.next()) {
      over.throwIfAborted();
      if (next.done) return next.value.shortfalls;
      for (const piece of pieces(next.value)) {
        // The reader does not slow down lines that are written as almost nothing, such as those of terminal sequences.
        if (slices.spent) await slices.next();
        const room = maxLines - this.#lines;
        const lines = piece.slice(0, room);
        if (lines.length > 0) {
          await this.#body.write(this.#takeHead() + this.#format.lines(lines, this.#lines === 0));
          this.#lines += lines.length;
          streamed(lines.length);
        }
        const excess = piece[room];
        if (excess) return [this.#limitReached(excess)];
      }
    }
  }

  async end(shortfalls: readonly Shortfall[]): Promise<void> {
    await this.#body.write(this.#takeHead() + this.#format.end(shortfalls, this.#lines === 0));
  }

  #limitReached({ time }: LogRecord): Shortfall {
    const parameter = this.#order === 'desc' ? 'end_time' : 'start_time';
    const resumption = `${parameter}=${Math.floor(millisecondsOf(time) / 1000)}`;
    return {
      reason: 'Limit',
      message: `there are more than the ${this.#options.maxLines} lines of one export; export the rest with ${resumption}, which repeats the lines of that second`,
    };
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    return head;
  }
}

// oxlint-disable-next-line require-yield -- an export without lines
async function* emptyExport(): ExportBatches {
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

/** Without internal text. */
function shortfallOf(error: unknown): Shortfall {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { reason: 'Timeout', message: 'the export exceeded its time limit' };
  }
  if (!(error instanceof StatusError)) return { reason: 'StoreFailed', message: 'the export failed' };
  const { code, message } = error;
  if (isExpired(error)) return { reason: 'ScopeChanged', message };
  return { reason: code === 429 ? 'Limit' : code === 504 ? 'Timeout' : 'StoreFailed', message };
}
