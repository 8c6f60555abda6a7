import { methodNotAllowed } from '../../../apis/oauth/errors.ts';
import { type StaticDocument, staticDocument, writeDocument } from '../../endpoints/static-document.ts';
import type { RequestContext } from '../../request/request-context.ts';

/** JSON that is the same for everybody and may be cached for `maxAge` seconds. GET and HEAD only. */
export function writePublicJSON(
  context: RequestContext,
  value: unknown,
  maxAge: number,
): Promise<void> | void {
  return writePublicDocument(context, staticDocument(value), 'application/json', maxAge);
}

/** The same of anything else. */
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
