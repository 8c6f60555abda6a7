// Responses of lists under `/kapis`: their entity tags, 304 to a matching `If-None-Match`, and bodies. Short ones are sent in one piece,
// long ones compressed while they are sent.
import { createHash } from 'node:crypto';
import type { IncludedObject } from '../../apis/resources/v1alpha3/resource-query.ts';
import type { CachedObject, ObjectIdentity } from '../cache/resource-cache.ts';
import type { TimeSlices } from '../concurrency/time-slicer.ts';
import {
  acceptsGzip,
  GZIP_THRESHOLD,
  JSON_HEADERS,
  joined,
  matchesTag,
  writeBody,
} from '../http/response-writer.ts';
import { ownBytes } from '../memory/own-bytes.ts';
import type { RequestContext } from '../request/request-context.ts';
import { compressed } from '../rest/list-body.ts';
import type { PlatformItem } from './platform-item.ts';

const NEWLINE = Buffer.from('\n');

type Headers = Readonly<Record<string, string | number>>;

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

/** Returns the parts of a short body and a final newline, to be cached. */
export function wholeBody(parts: Iterable<Buffer>): Buffer {
  return ownBytes(Buffer.concat([...lineOf(parts)]));
}

/** `line`: with a final newline. */
export function withoutNewline(line: Buffer): Buffer {
  return line.subarray(0, -NEWLINE.length);
}

/** The tag is weak, because equal objects can have a different resourceVersion of the list or a different encoding. */
export function headersWith(tag: string): Headers {
  return { ...JSON_HEADERS, ETag: `W/${tag}` };
}

/** Writes 304 and returns true if the client has the content. `tag`: quoted. */
export function respondedNotModified({ request, response }: RequestContext, tag: string): boolean {
  if (!matchesTag(request.headers['if-none-match'], tag)) return false;
  response.writeHead(304, {
    'Cache-Control': JSON_HEADERS['Cache-Control'],
    Vary: JSON_HEADERS.Vary,
    ETag: `W/${tag}`,
  });
  response.end();
  return true;
}

/** Objects between checks of the time slice. */
const STEPS = 256;

/** Returns the quoted tag of a page. It depends on the objects of the page in their order, and on `more`. */
export async function pageTag<Facts>(
  item: PlatformItem<Facts>,
  objects: readonly ObjectIdentity<Facts>[],
  more: readonly unknown[],
  slices: TimeSlices,
): Promise<string> {
  const tag = createHash('sha256').update(JSON.stringify(more));
  for (let at = 0; at < objects.length; at += STEPS) {
    const states = objects.slice(at, at + STEPS).map((object) => item.state(object));
    tag.update(`${states.join()},`);
    if (slices.spent) await slices.next();
  }
  return `"${tag.digest('base64url')}"`;
}
