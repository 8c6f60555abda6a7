// Lists that are put together for one request: pages, selections, tables, metadata, pretty ones.
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { ListMeta } from '../../../apis/meta/v1/table.ts';
import type { CachedObject } from '../../cache/objects/cached-object.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { acceptsGzip, GZIP_THRESHOLD } from '../content-encoding.ts';
import { JSON_HEADERS, writeBody } from '../response.ts';
import { Indenter } from './indent.ts';
import type { ListFrame, Representation } from './representations/representation.ts';

const COMMA = Buffer.from(',');

/** Bytes of a list in chunks just over the gzip threshold, made only when they are asked for. */
function* chunked<Facts>(
  frame: ListFrame,
  representation: Representation<Facts>,
  objects: readonly CachedObject<Facts>[],
): Generator<Buffer> {
  let parts: Buffer[] = [frame.start];
  let size = frame.start.length;
  for (const [index, object] of objects.entries()) {
    if (index > 0) parts.push(COMMA);
    const item = representation.item(object);
    parts.push(item);
    size += item.length + 1;
    if (size > GZIP_THRESHOLD) {
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
  }
  parts.push(frame.end);
  yield Buffer.concat(parts);
}

function* indented(chunks: Iterable<Buffer>): Generator<Buffer> {
  const indenter = new Indenter();
  for (const chunk of chunks) yield indenter.write(chunk);
}

/** All of them when they are few, so that small answers have a length. */
function* rejoined(first: Buffer, rest: Iterator<Buffer>): Generator<Buffer> {
  yield first;
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
}

export async function writeItems<Facts>(
  context: RequestContext,
  { representation, pretty }: { readonly representation: Representation<Facts>; readonly pretty: boolean },
  meta: ListMeta,
  objects: readonly CachedObject<Facts>[],
): Promise<void> {
  const { request, response, signal } = context;
  const plain = chunked(representation.list(meta), representation, objects);
  const chunks = pretty ? indented(plain) : plain;
  const first = chunks.next();
  const start = first.done ? Buffer.alloc(0) : first.value;
  if (start.length <= GZIP_THRESHOLD && !pretty) {
    response.writeHead(200, { ...JSON_HEADERS, 'Content-Length': start.length });
    response.end(start);
    return;
  }
  const body = rejoined(start, chunks);
  if (!acceptsGzip(request)) {
    response.writeHead(200, JSON_HEADERS);
    return writeBody(response, body, signal);
  }
  response.writeHead(200, { ...JSON_HEADERS, 'Content-Encoding': 'gzip' });
  // A fault of the source, or a reader who left, destroys both; writeBody notices it itself.
  const compressed = pipeline(Readable.from(body), createGzip({ level: 1 }), () => undefined);
  return writeBody(response, compressed, signal);
}
