import { readFileSync } from 'node:fs';
import { staticBytes } from '../../endpoints/static-document.ts';
import type { Handler } from '../../request/request-context.ts';
import { writePublicDocument } from '../http/json-response.ts';

const MAX_AGE_SECONDS = 300;

/** Serves page.css, which is read once. */
export function styleHandler(): Handler {
  const document = staticBytes(readFileSync(new URL('page.css', import.meta.url)));
  return (context) => writePublicDocument(context, document, 'text/css; charset=utf-8', MAX_AGE_SECONDS);
}
