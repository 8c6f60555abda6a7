// Detects requests of web pages of other origins.
import type { IncomingHttpHeaders } from 'node:http';

/** Returns true for a request without Origin, and for one of a page of this server. */
export function isSameOrigin({ origin, host }: IncomingHttpHeaders): boolean {
  if (origin === undefined) return true;
  return host !== undefined && URL.parse(origin)?.host === URL.parse(`https://${host}`)?.host;
}
