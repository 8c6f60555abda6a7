// Response bodies of lists under `/kapis`: short ones in one piece, long ones compressed while they are sent.
import type { CachedObject } from '../cache/resource-cache.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import { acceptsGzip, GZIP_THRESHOLD, joined, writeBody } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { compressed } from '../rest/list-body.ts';

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
export function isShort(objects: readonly CachedObject<unknown>[]): boolean {
  return objects.reduce((sum, { length }) => sum + length, 0) <= GZIP_THRESHOLD;
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
