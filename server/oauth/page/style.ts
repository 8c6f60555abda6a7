import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { methodNotAllowed } from '../../../apis/oauth/errors.ts';
import type { Handler } from '../../request/request-context.ts';

/** Serves page.css, which is read once. */
export function styleHandler(): Handler {
  const bytes = readFileSync(new URL('page.css', import.meta.url));
  const tag = `"${hash('sha256', bytes, 'base64url')}"`;
  return (context) => {
    if (context.request.method !== 'GET') throw methodNotAllowed('GET');
    const headers = {
      ETag: tag,
      'Cache-Control': 'public, max-age=300',
      'X-Content-Type-Options': 'nosniff',
    };
    if (context.request.headers['if-none-match'] === tag) {
      context.response.writeHead(304, headers).end();
      return;
    }
    context.response
      .writeHead(200, {
        ...headers,
        'Content-Type': 'text/css; charset=utf-8',
        'Content-Length': bytes.length,
      })
      .end(bytes);
  };
}
