// Responds with documents that rarely change, such as discovery. The server compresses a large document once for all
// requests.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestContext } from '../request/request-context.ts';
import {
  acceptsGzip,
  GZIP_THRESHOLD,
  JSON_HEADERS,
  matchesTag,
  PIECE,
  piecesOf,
  writeBody,
} from './response-writer.ts';

export interface StaticDocument {
  readonly bytes: Buffer;
  /** SHA-512 in upper-case hexadecimal, as in the entity tags and document URLs of Kubernetes. */
  readonly hash: string;
}

export function staticDocument(value: unknown): StaticDocument {
  return staticBytes(Buffer.from(`${JSON.stringify(value)}\n`));
}

export function staticBytes(bytes: Buffer): StaticDocument {
  return { bytes, hash: hash('sha512', bytes).toUpperCase() };
}

export function writeDocument(
  context: RequestContext,
  document: StaticDocument,
  headers: Readonly<Record<string, string>>,
  gzipThreshold = GZIP_THRESHOLD,
): Promise<void> | void {
  const { request, response } = context;
  const { bytes, hash } = document;
  const isLarge = bytes.length > gzipThreshold;
  const isCompressed = isLarge && acceptsGzip(request);
  // The compressed representation needs a different tag (RFC 9110, section 8.8.3.3).
  const tag = isCompressed ? `"${hash}-gzip"` : `"${hash}"`;
  const all = { ...headers, ETag: tag, Vary: isLarge ? JSON_HEADERS.Vary : 'Accept, Origin' };
  if (matchesTag(request.headers['if-none-match'], tag)) {
    response.writeHead(304, all);
    response.end();
    return;
  }
  if (!isCompressed) return writeBytes(context, bytes, all);
  return compressedOf(document).then((compressed) =>
    writeBytes(context, compressed, { ...all, 'Content-Encoding': 'gzip' }),
  );
}

function writeBytes(
  { response, signal }: RequestContext,
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<void> | void {
  response.writeHead(200, { ...headers, 'Content-Length': bytes.length });
  if (bytes.length > PIECE) return writeBody(response, piecesOf(bytes), signal, 0);
  response.end(bytes);
}

const compressing = promisify(gzip);
const compressed = new WeakMap<StaticDocument, Promise<Buffer>>();

function compressedOf(document: StaticDocument): Promise<Buffer> {
  const known = compressed.get(document);
  if (known) return known;
  const begun = compressing(document.bytes);
  compressed.set(document, begun);
  // A failure, for example for lack of memory, is temporary, so it is not cached.
  begun.catch(() => compressed.delete(document));
  return begun;
}
