// Lists that are put together for one request: pages, selections, tables, metadata, pretty ones.
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { ListMeta } from '../../../apis/meta/v1/table.ts';
import type { CachedObject } from '../../cache/objects/cached-object.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { acceptsGzip, GZIP_THRESHOLD } from '../content-encoding.ts';
import { JSON_HEADERS, joined, writeBody } from '../response.ts';
import { Indenter } from './indent.ts';
import { framed, type Representation } from './representations/representation.ts';

function* indented(parts: Iterable<Buffer>): Generator<Buffer> {
  const indenter = new Indenter();
  for (const part of parts) yield indenter.write(part);
}

function* inFrontOf(first: Buffer, rest: Iterable<Buffer>): Generator<Buffer> {
  yield first;
  yield* rest;
}

/** Begins when it is read. */
async function* compressed(body: Iterable<Buffer>): AsyncGenerator<Buffer> {
  // A fault of the source, or a reader who left, destroys both; writeBody notices it itself.
  yield* pipeline(Readable.from(body), createGzip({ level: 1 }), () => undefined);
}

export async function writeItems<Facts>(
  context: RequestContext,
  { representation, pretty }: { readonly representation: Representation<Facts>; readonly pretty: boolean },
  meta: ListMeta,
  objects: readonly CachedObject<Facts>[],
): Promise<void> {
  const { request, response, signal } = context;
  const parts = framed(representation.list(meta), objects, (object) => [representation.item(object)]);
  const chunks = joined(pretty ? indented(parts) : parts);
  const first = chunks.next().value ?? Buffer.alloc(0);
  if (first.length <= GZIP_THRESHOLD) {
    response.writeHead(200, { ...JSON_HEADERS, 'Content-Length': first.length });
    response.end(first);
    return;
  }
  const body = inFrontOf(first, chunks);
  if (!acceptsGzip(request)) {
    response.writeHead(200, JSON_HEADERS);
    return writeBody(response, body, signal);
  }
  response.writeHead(200, { ...JSON_HEADERS, 'Content-Encoding': 'gzip' });
  return writeBody(response, compressed(body), signal);
}
