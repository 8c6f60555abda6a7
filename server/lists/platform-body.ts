// Response bodies of lists under `/kapis`: short ones in one piece, long ones compressed while they are sent.
import type { IncludedObject } from '../../apis/resources/v1alpha3/resource-query.ts';
import type { CachedObject } from '../cache/resource-cache.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import { acceptsGzip, GZIP_THRESHOLD, joined, writeBody } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { compressed } from '../rest/list-body.ts';

export const NEWLINE = Buffer.from('\n');

export type Headers = Readonly<Record<string, string | number>>;

/** Writes status 200 and a long body, compressed if the client accepts it. */
export function writeLong(
  context: RequestContext,
  headers: Headers,
  parts: Iterable<Buffer>,
  slices: TimeSlices,
): Promise<void> {
  const { request, response, signal } = context;
  const gzip = acceptsGzip(request);
  response.writeHead(200, gzip ? { ...headers, 'Content-Encoding': 'gzip' } : headers);
  const body = sliced(joined(parts), slices);
  return writeBody(response, gzip ? compressed(body) : body, signal);
}

/** Returns true if the body of a page is written, and cached, as a whole. */
export function isShort(objects: readonly CachedObject<unknown>[], included: IncludedObject): boolean {
  const lengthOf = (object: CachedObject<unknown>): number =>
    // Reading the metadata decompresses the object.
    included === 'Object' ? object.length : object.metadata.length;
  return objects.reduce((sum, object) => sum + lengthOf(object), 0) <= GZIP_THRESHOLD;
}

/** Writes status 200 and a body that is in memory. */
export function writeBytes(
  { response }: Pick<RequestContext, 'response'>,
  headers: Headers,
  body: Buffer,
): void {
  response.writeHead(200, { ...headers, 'Content-Length': body.length });
  response.end(body);
}

/** Yields to the event loop between chunks, because compressed objects take time to decompress. */
export async function* sliced(
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  slices: TimeSlices,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    if (slices.spent) await slices.next();
  }
}

/** Yields the parts of a body and a final newline. */
export function* lineOf(parts: Iterable<Buffer>): Generator<Buffer> {
  yield* parts;
  yield NEWLINE;
}

/** `line`: with a final newline. */
export function withoutNewline(line: Buffer): Buffer {
  return line.subarray(0, -NEWLINE.length);
}
