import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogQueryAnswer } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import type { BufferedResponses } from '../../endpoints/buffered-responses.ts';
import { acceptsGzip, GZIP_THRESHOLD, PIECE } from '../../endpoints/response.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { isOnePiece, pieces, type SlicedCall } from './response-records.ts';

const compress = promisify(gzip);

export interface ResponseWriterOptions {
  readonly buffered: Pick<BufferedResponses, 'write'>;
  readonly turns: TimeSlicer;
}

/** Writes a JSON response; a long one is compressed, and buffered for slow readers. Caches must not store logs. */
export async function writeResponse(
  context: RequestContext,
  body: object,
  { buffered, turns }: ResponseWriterOptions,
): Promise<void> {
  const { request, response, signal } = context;
  const plain = await encodedResponse(body, { turns, signal });
  const length = Buffer.byteLength(plain);
  const compressed = length > GZIP_THRESHOLD && acceptsGzip(request) ? await compress(plain) : undefined;
  const size = compressed?.length ?? length;
  const writeHead = (): void => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': size,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding, Origin',
      ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
  };
  if (size > PIECE && request.method !== 'HEAD') {
    const bytes = compressed ?? (typeof plain === 'string' ? Buffer.from(plain) : plain);
    return buffered.write(context, bytes, writeHead);
  }
  writeHead();
  // A string is sent in one packet with the head.
  response.end(request.method === 'HEAD' ? undefined : (compressed ?? plain));
}

/** The empty list in the JSON of a page. Within a JSON string the quotes would be escaped. */
const EMPTY_RECORDS = '"records":[]';

/**
 * Encodes a long page piece by piece: one line of a mebibyte of control characters takes 20 ms. Rejects with the signal's
 * reason when it is aborted.
 */
export async function encodedResponse(
  body: object | Pick<LogQueryAnswer, 'query'>,
  { turns, signal }: SlicedCall,
): Promise<string | Buffer> {
  if (!('query' in body) || isOnePiece(body.query.records)) return `${JSON.stringify(body)}\n`;
  const frame = JSON.stringify({ ...body, query: { ...body.query, records: [] } });
  const split = frame.indexOf(EMPTY_RECORDS) + EMPTY_RECORDS.length - 1;
  const encoded = [Buffer.from(frame.slice(0, split))];
  for (const piece of pieces(body.query.records)) {
    if (turns.spent) await turns.next();
    signal.throwIfAborted();
    const separator = encoded.length === 1 ? '' : ',';
    encoded.push(Buffer.from(`${separator}${JSON.stringify(piece).slice(1, -1)}`));
  }
  encoded.push(Buffer.from(`${frame.slice(split)}\n`));
  return Buffer.concat(encoded);
}
