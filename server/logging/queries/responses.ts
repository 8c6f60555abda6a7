// JSON responses of log queries. Encoding a large response yields to the event loop.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogQueryAnswer, ResponseRecord } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { hasWord, textSearchOf } from '../../../apis/logging/v1alpha2/log-query-validation.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import type { Task, TimeSlicer } from '../../concurrency/time-slicer.ts';
import type { BufferedResponses } from '../../http/buffered-responses.ts';
import { acceptsGzip, GZIP_THRESHOLD, PIECE } from '../../http/response-writer.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { severityMatcher } from '../matching/levels.ts';
import { type LineMatcher, lineMatcher, PatternError, type Span } from '../matching/line-matcher.ts';
import { isQueryable } from '../store/instant.ts';
import type { LogRecord, TextFilter } from '../store/log-store.ts';

const compress = promisify(gzip);

/** Work for one caller. */
export interface SlicedCall extends Task {
  /** Shares the event loop fairly among callers. */
  readonly slicer: TimeSlicer;
  readonly signal: AbortSignal;
}

/** Maximum number of characters of a line that are searched for highlights. */
const MAX_SEARCHED = 32_768;
/** Maximum number of highlights of one line; bounds the size of the response. */
const MAX_HIGHLIGHTS = 1_000;
/** Maximum number of lines, and of their characters, that are encoded synchronously, except of one line. */
const PIECE_LINES = 250;
const PIECE_LENGTH = 1 << 18;

/** Adds ids and, on request, highlights and severities to records. Rejects with the signal's reason when it is aborted. */
export async function responseRecords(
  query: LogQuery,
  records: readonly LogRecord[],
  call: SlicedCall,
): Promise<ResponseRecord[]> {
  const { signal } = call;
  const slices = call.slicer.of(call);
  const text = query.highlight ? textOf(query) : undefined;
  const matcher = text && highlighter(text);
  const severityOf = query.severity ? severityMatcher(slices) : undefined;
  const yieldTurn = async (): Promise<void> => {
    if (slices.spent) await slices.next();
    signal.throwIfAborted();
  };
  const highlightsOf = async (line: string): Promise<[number, number][]> => {
    const highlights: [number, number][] = [];
    for (const [begin, end] of matcher ? spansIn(line, matcher) : []) {
      highlights.push([begin, end]);
      if (highlights.length === MAX_HIGHLIGHTS) break;
      await yieldTurn();
    }
    return highlights;
  };
  const result: ResponseRecord[] = [];
  signal.throwIfAborted();
  for (const record of records) {
    await yieldTurn();
    const { log, time, namespace, pod, container } = record;
    const plain = { log, time, namespace, pod, container, id: idOf(record) };
    result.push({
      ...plain,
      ...(query.highlight ? { highlights: await highlightsOf(log) } : {}),
      ...(severityOf ? { severity: await severityOf(log) } : {}),
    });
  }
  return result;
}

/** Undefined for a regular expression of a store that RE2 does not support. Its lines have no highlights. */
function highlighter(text: TextFilter): LineMatcher | undefined {
  try {
    return lineMatcher(text);
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

function* spansIn(line: string, matcher: LineMatcher): Generator<Span, void, undefined> {
  const limit = Math.min(MAX_SEARCHED, matcher.maxLength);
  const isCut = line.length > limit;
  for (const span of matcher.spans(isCut ? line.slice(0, limit) : line)) {
    // A match at the cut may be incomplete, or may exist only because of the cut.
    if (!isCut || span[1] < limit) yield span;
  }
}

/** Splits records into pieces that can be encoded synchronously. Reads at most one record ahead. */
export function* pieces<Item extends { readonly log: string }>(
  records: Iterable<Item>,
): Generator<readonly Item[], void, undefined> {
  let piece: Item[] = [];
  let length = 0;
  for (const record of records) {
    length += record.log.length;
    if (piece.length === PIECE_LINES || (piece.length > 0 && length > PIECE_LENGTH)) {
      yield piece;
      [piece, length] = [[], record.log.length];
    }
    piece.push(record);
  }
  if (piece.length > 0) yield piece;
}

/** Text filter of the query; undefined if it has no text. */
export function textOf(query: LogQuery): TextFilter | undefined {
  const { mode, texts } = textSearchOf(query);
  const isByWords = mode === 'phrase' || mode === 'prefix';
  // A text without a word matches no line.
  const [first, ...more] = isByWords ? texts.filter(hasWord) : texts;
  if (first === undefined) return undefined;
  return { mode, texts: [first, ...more], caseSensitive: query.case === 'respect' };
}

interface ResponseWriterOptions {
  readonly buffered: Pick<BufferedResponses, 'write'>;
  readonly slicer: TimeSlicer;
}

/** Writes a JSON response. Compresses a long response and buffers it for slow readers. Caches must not store logs. */
export async function writeResponse(
  context: RequestContext,
  body: object,
  { buffered, slicer }: ResponseWriterOptions,
): Promise<void> {
  const { request, response, signal, caller } = context;
  const plain = await encodedResponse(body, { slicer, signal, caller });
  const isCompressed = plain.length > GZIP_THRESHOLD && acceptsGzip(request);
  const bytes = isCompressed ? await compress(plain) : plain;
  const writeHead = (): void => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': bytes.length,
      'Cache-Control': 'no-store',
      Vary: 'Accept-Encoding, Origin',
      ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
  };
  if (request.method === 'HEAD') {
    writeHead();
    response.end();
  } else if (bytes.length > PIECE) {
    await buffered.write(context, bytes, writeHead);
  } else {
    writeHead();
    response.end(bytes);
  }
}

/**
 * Encodes a response, and its records one by one: 1 MiB of control characters takes 20 ms. Rejects with the signal's
 * reason when it is aborted.
 */
export async function encodedResponse(
  body: object | Pick<LogQueryAnswer, 'query'>,
  call: SlicedCall,
): Promise<Buffer> {
  if (!('query' in body)) return Buffer.from(`${JSON.stringify(body)}\n`);
  const slices = call.slicer.of(call);
  const { query, ...rest } = body;
  const { records, ...page } = query;
  // The records are the last member of the last member.
  const encoded = [Buffer.from(`${JSON.stringify({ ...rest, query: page }).slice(0, -2)},"records":[`)];
  for (const [index, record] of records.entries()) {
    if (slices.spent) await slices.next();
    call.signal.throwIfAborted();
    encoded.push(Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(record)}`));
  }
  encoded.push(Buffer.from(']}}\n'));
  return Buffer.concat(encoded);
}

/** Identity of a record, as encoded in its `id`. Clients send it back, so it is untrusted; it grants no permission. */
export interface RecordID extends Omit<LogRecord, 'log'> {
  /** Distinguishes lines of the same container and nanosecond. */
  readonly digest: string;
}

const DIGEST_LENGTH = 16;
const INVALID_ID = 'is not the `id` of a record';

export function idOf({ time, namespace, pod, container, log }: LogRecord): string {
  return encodeOpaque([time, namespace, pod, container, lineDigest(log)]);
}

/** Throws BadRequest for an invalid id. */
export function parseRecordID(id: string): RecordID {
  const parsed = parseID(id);
  if (!parsed) throw newInvalidParameter('context', INVALID_ID);
  return parsed;
}

/** Validation error of a malformed id. Does not check that the record exists. */
export function recordIDError(id: string): string | undefined {
  return parseID(id) ? undefined : INVALID_ID;
}

/** Part of the `id` of a record. */
export function lineDigest(log: string): string {
  return hash('sha256', log, 'base64url').slice(0, DIGEST_LENGTH);
}

function parseID(id: string): RecordID | undefined {
  const parts = decodeOpaque(id);
  if (parts?.length !== 5) return undefined;
  if (!parts.every((part) => typeof part === 'string')) return undefined;
  const [time = '', namespace = '', pod = '', container = '', digest = ''] = parts;
  return isQueryable(time) ? { time, namespace, pod, container, digest } : undefined;
}

/** Encodes a cursor or an id. */
export function encodeOpaque(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Undefined for a value that encodeOpaque() did not create. */
export function decodeOpaque(text: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}
