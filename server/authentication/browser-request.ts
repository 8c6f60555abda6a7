// Requests of browsers: what the browser would do with the response. It follows from headers that no page can set (Fetch
// Metadata).
import type { IncomingHttpHeaders } from 'node:http';

/** Destinations and modes of requests whose response only a script reads, and only if CORS allows it. */
const DESTINATIONS: ReadonlySet<unknown> = new Set([undefined, 'empty', 'websocket']);
const MODES: ReadonlySet<unknown> = new Set([undefined, 'cors', 'same-origin', 'websocket']);

/** Returns false if the browser would render or execute the response. Programs other than browsers send no Fetch Metadata. */
export function isReadByScript(headers: IncomingHttpHeaders): boolean {
  return DESTINATIONS.has(headers['sec-fetch-dest']) && MODES.has(headers['sec-fetch-mode']);
}

/** Returns true for the script of a service worker, which could then respond to all later requests of the origin. */
export function isServiceWorker(headers: IncomingHttpHeaders): boolean {
  return headers['service-worker'] !== undefined || headers['sec-fetch-dest'] === 'serviceworker';
}
