// Requests of browsers: which page has sent a request, and what the browser would do with the response. Both follow from
// headers that no page can set (Fetch Metadata, Origin).
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { newForbidden } from '../../apis/meta/v1/errors.ts';
import type { AuthenticationRequest, ImmediateAuthenticator } from './authenticator.ts';

type BrowserRequest = Pick<AuthenticationRequest, 'secure'> & {
  readonly request: Pick<IncomingMessage, 'headers'>;
};

/**
 * Returns true for a request of a page of another origin, if `allowed` does not contain the origin. Chromium sends no Fetch Metadata
 * with a WebSocket, but always an Origin. Other programs send neither.
 */
export function isForeignPage(
  { request: { headers }, secure }: BrowserRequest,
  allowed: readonly string[] = [],
): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin !== undefined) {
    if (allowed.includes(origin)) return false;
    if (!isOwnOrigin(origin, host, secure)) return true;
  }
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** The plain-HTTP listener may be behind a proxy that terminates TLS. No browser sends a Host with user information or a path. */
function isOwnOrigin(origin: string, host: string | undefined, secure: boolean): boolean {
  const schemes = secure ? ['https'] : ['https', 'http'];
  return (
    host !== undefined && schemes.some((scheme) => URL.parse(`${scheme}://${host}`)?.href === `${origin}/`)
  );
}

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

interface AmbientOptions {
  /** Origins whose pages may use the credential of their visitor, besides the origin of the server. */
  readonly allowedOrigins: readonly string[];
  /** Returns true for a request that does not use the credential, because any page may cause the request. */
  readonly ignored: (request: IncomingMessage) => boolean;
}

/**
 * Wraps the authenticator of a credential that browsers add to every request by themselves, such as a client certificate. A page of
 * another origin cannot use the credential of its visitor.
 */
export function ambient(
  inner: ImmediateAuthenticator,
  { allowedOrigins, ignored }: AmbientOptions,
): ImmediateAuthenticator {
  return {
    name: inner.name,
    authenticate: (context) => {
      if (ignored(context.request)) return undefined;
      const user = inner.authenticate(context);
      if (user === undefined || !isForeignPage(context, allowedOrigins)) return user;
      throw newForbidden(undefined, '', 'client certificates are not available to pages of other origins');
    },
  };
}
