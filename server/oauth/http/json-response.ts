import type { ServerResponse } from 'node:http';
import { methodNotAllowed } from '../../../apis/oauth/errors.ts';
import { type StaticDocument, staticDocument, writeDocument } from '../../endpoints/static-document.ts';
import type { RequestContext } from '../../request/request-context.ts';

/** RFC 6749, 5.1: a response with a token must not be cached. Pragma is for HTTP/1.0 caches. */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

/** Writes JSON with `Cache-Control: no-store`. */
export function writeJSON(
  response: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'X-Content-Type-Options': 'nosniff',
    ...NO_STORE,
    ...headers,
  });
  response.end(body);
}

/** Writes public JSON that may be cached for `maxAge` seconds. GET and HEAD only. */
export function writePublicJSON(
  context: RequestContext,
  value: unknown,
  maxAge: number,
): Promise<void> | void {
  return writePublicDocument(context, staticDocument(value), 'application/json', maxAge);
}

/** As `writePublicJSON`, for any content type. */
export function writePublicDocument(
  context: RequestContext,
  document: StaticDocument,
  contentType: string,
  maxAge: number,
): Promise<void> | void {
  const { method } = context.request;
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
  return writeDocument(context, document, {
    'Content-Type': contentType,
    'Cache-Control': `public, max-age=${maxAge}`,
    'X-Content-Type-Options': 'nosniff',
  });
}
