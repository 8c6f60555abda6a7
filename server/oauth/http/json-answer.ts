import type { ServerResponse } from 'node:http';

/** RFC 6749, 5.1: an answer that may hold a token must not be cached. Pragma is for caches of HTTP/1.0. */
export const NOT_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

/** JSON that must not be stored. */
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
    ...NOT_STORED,
    ...headers,
  });
  response.end(body);
}
