// Exports spans to a collector, with OTLP over HTTP. The queue is bounded: without a collector, requests are as fast as with one, and
// further spans are dropped.
import type { Logger } from 'pino';
import { Backoff } from '../concurrency/backoff.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { pause } from '../concurrency/pause.ts';
import { Wakeup } from '../concurrency/wakeup.ts';
import { describeFileError } from '../files/file-error.ts';
import { readCAFile } from '../files/text-file.ts';
import { kindOfFailure, RepeatedFailure } from '../observability/repeated-failure.ts';
import { ConnectionPool } from '../upstream/connection-pool.ts';
import { abortableBy, send } from '../upstream/send.ts';
import { CONTENT_TYPE, rejectedSpans } from './otlp.ts';
import type { Span, SpanSink } from './span.ts';
import type { TracingMetrics } from './tracing-metrics.ts';

/** Maximum number of spans that wait for their export. */
export const MAX_WAITING = 2_048;
/** Maximum number of spans of a request, so that its encoding does not block the event loop. */
const BATCH = 64;
/** Interval in ms of exports of fewer spans. Repeated requests have delays from a fifth to six times of it. */
const INTERVAL_MS = 5_000;
/** Timeout of a request in ms. */
const TIMEOUT_MS = 10_000;
/** Maximum time in ms of the last exports, when the server stops. */
export const FLUSH_MS = 3_000;
const MAX_RESPONSE_BYTES = 64 << 10;
/** The failures after which OTLP repeats a request. */
const REPEATED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface SpanExporterOptions {
  /** The option `tracing.endpoint`. */
  readonly endpoint: string;
  /** The option `tracing.caFile`; empty: the CAs of Node.js. */
  readonly caFile: string;
  readonly encode: (spans: readonly Span[]) => Buffer;
  readonly metrics: TracingMetrics;
  readonly log: Logger;
  /** By default INTERVAL_MS. */
  readonly intervalMs?: number;
}

export class SpanExporter implements SpanSink {
  readonly #options: SpanExporterOptions;
  readonly #url: URL;
  readonly #waiting: Span[] = [];
  readonly #wakeup = new Wakeup();
  readonly #intervalMs: number;
  readonly #backoff: Backoff;
  /** Neither ends, because a collector that fails or rejects spans may accept others in between. */
  readonly #failure = new RepeatedFailure();
  readonly #rejection = new RepeatedFailure();
  #isFailureLogged = false;
  #ca: string | undefined;
  #pool: ConnectionPool | undefined;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs ?? INTERVAL_MS;
    const maxMs = 6 * this.#intervalMs;
    this.#backoff = new Backoff({ initialMs: this.#intervalMs / 5, maxMs, random: Math.random });
    this.#url = new URL(`${options.endpoint.replace(/\/$/, '')}/v1/traces`);
  }

  add(spans: readonly Span[]): void {
    if (this.#waiting.length + spans.length > MAX_WAITING) {
      return this.#options.metrics.count('queue_full', spans.length);
    }
    this.#waiting.push(...spans);
    if (this.#waiting.length >= BATCH) this.#wakeup.wake();
  }

  /** Exports until `signal` is aborted, then for FLUSH_MS at most what is left. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const flush = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const stopping = (): void => {
      timer = setTimeout(() => flush.abort(new Error(`no response within ${FLUSH_MS} ms`)), FLUSH_MS);
    };
    signal.addEventListener('abort', stopping, { once: true });
    while (await this.#wakeup.next(signal, this.#intervalMs)) {
      await this.#exportAll(signal, flush.signal);
    }
    await this.#exportAll(signal, flush.signal);
    clearTimeout(timer);
    this.#pool?.retire();
    if (this.#waiting.length > 0) {
      this.#options.log.warn({ spans: this.#waiting.length }, 'spans dropped at the stop of the server');
    }
  }

  /** Exports the spans in their order. While the server stops, the first failure ends it. */
  async #exportAll(signal: AbortSignal, flush: AbortSignal): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await this.#export(batch, flush);
      } catch (error) {
        this.#failed(error);
        if (signal.aborted) return;
        await pause(this.#backoff.next(), signal);
        continue;
      }
      this.#backoff.reset();
      this.#waiting.splice(0, batch.length);
    }
  }

  /** Throws an error if the request can succeed later. */
  async #export(spans: readonly Span[], flush: AbortSignal): Promise<void> {
    const { encode, metrics, log } = this.#options;
    const body = encode(spans);
    using bounded = boundedSignal(flush, TIMEOUT_MS);
    const response = await send(await this.#connections(), {
      method: 'POST',
      path: this.#url.pathname,
      headers: ['host', this.#url.host, 'content-type', CONTENT_TYPE],
      body,
      // A collector may get a span twice.
      isRead: true,
      crowd: '',
      work: abortableBy(bounded.signal),
    });
    const bytes = await bytesOf(response);
    const { statusCode } = response;
    if (REPEATED.has(statusCode)) throw new Error(`the collector responded with status ${statusCode}`);
    const isAccepted = statusCode >= 200 && statusCode < 300;
    const rejected = isAccepted ? Math.min(rejectedSpans(bytes), spans.length) : spans.length;
    metrics.count('exported', spans.length - rejected);
    metrics.count('rejected', rejected);
    if (rejected > 0 && this.#rejection.isNews('rejected'))
      log.warn({ status: statusCode, spans: rejected }, 'the collector rejects spans');
    if (!isAccepted || !this.#isFailureLogged) return;
    this.#isFailureLogged = false;
    log.info('spans are exported again');
  }

  #failed(err: unknown): void {
    if (!this.#failure.isNews(kindOfFailure(err))) return;
    this.#isFailureLogged = true;
    this.#options.log.warn({ err }, 'cannot export spans');
  }

  /** Returns the connections to the collector. A changed CA applies to new ones. */
  async #connections(): Promise<ConnectionPool> {
    const { caFile } = this.#options;
    const ca = caFile === '' ? undefined : await readCA(caFile);
    if (!this.#pool || ca !== this.#ca) {
      this.#pool?.retire();
      this.#pool = new ConnectionPool({ url: this.#url, tls: { ca } });
      this.#ca = ca;
    }
    return this.#pool;
  }
}

/** Returns an empty body for one that is too long, such as the page of a proxy: the status decides, not the body. */
async function bytesOf(response: Awaited<ReturnType<typeof send>>): Promise<Uint8Array> {
  const tooLong = new Error(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
  try {
    return await response.bytes({ maxBytes: MAX_RESPONSE_BYTES, tooLong: () => tooLong });
  } catch (error) {
    if (error !== tooLong) throw error;
    return new Uint8Array();
  }
}

function readCA(file: string): Promise<string> {
  return readCAFile(file).catch((error: unknown) => {
    throw new Error(`tracing.caFile: ${describeFileError(error)}: ${file}`);
  });
}
