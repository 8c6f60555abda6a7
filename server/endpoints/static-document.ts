// Documents that rarely change: bytes with an entity tag, and a 304 for clients that have them already.
import { createHash } from 'node:crypto';
import { newMethodNotAllowed } from '../../apis/meta/v1/errors.ts';
import type { RequestContext } from '../request/request-context.ts';
import { holdsTag } from './entity-tag.ts';
import { PIECE, piecesOf, writeBody } from './response.ts';

export interface StaticDocument {
  readonly bytes: Buffer;
  /** SHA-512 in upper-case hexadecimal: what Kubernetes puts into entity tags and document URLs. */
  readonly hash: string;
}

export function staticDocument(value: unknown): StaticDocument {
  return staticBytes(Buffer.from(`${JSON.stringify(value)}\n`));
}

export function staticBytes(bytes: Buffer): StaticDocument {
  return { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
}

/** Refuses everything but GET and HEAD with 405. */
export function onlyRead({ request, response }: RequestContext): void {
  const { method = '' } = request;
  if (method === 'GET' || method === 'HEAD') return;
  response.setHeader('Allow', 'GET, HEAD');
  throw newMethodNotAllowed(method);
}

export function writeDocument(
  context: RequestContext,
  document: StaticDocument,
  headers: Readonly<Record<string, string>>,
): Promise<void> | void {
  const { request, response } = context;
  const { bytes } = document;
  const tag = `"${document.hash}"`;
  const all = { ...headers, ETag: tag, Vary: 'Accept, Origin' };
  if (holdsTag(request.headers['if-none-match'], tag)) {
    response.writeHead(304, all);
    response.end();
    return;
  }
  response.writeHead(200, { ...all, 'Content-Length': bytes.length });
  if (bytes.length > PIECE) return writeBody(response, piecesOf(bytes), context.signal, 0);
  response.end(bytes);
}
