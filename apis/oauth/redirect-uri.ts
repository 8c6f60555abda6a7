// Which URIs a browser may be sent back to at all (RFC 6749, 3.1.2; RFC 9700, 2.6). Whether one is registered for a
// client is decided in server/oauth/codes.

/** Scheme and host, port, the rest. Nothing but a port, a path, a query or the end may follow the host. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** For people whose URI is none of them. */
export const REDIRECTABLE =
  'https, http on the machine itself (localhost, 127.0.0.1, [::1]), or the scheme of an app with a dot in it, without a fragment';

/**
 * No fragment (RFC 6749, 3.1.2), no scheme that runs or shows what it holds, such as `javascript:`, and none that others
 * on the way can read, but on the machine itself (RFC 9700, 2.6).
 */
export function isRedirectable(uri: string): boolean {
  if (!PRINTABLE.test(uri) || uri.includes('#')) return false;
  if (!URL.canParse(uri)) return false;
  const { protocol } = new URL(uri);
  if (protocol === 'http:') return withoutLoopbackPort(uri) !== undefined;
  // RFC 8252, 7.1: the scheme of an app is a domain name turned round, so it has a dot.
  return protocol === 'https:' || protocol.includes('.');
}

/** A URI of the machine itself without its port, which a program cannot choose (RFC 8252, 7.3); else undefined. */
export function withoutLoopbackPort(uri: string): string | undefined {
  const [, place, port, rest = ''] = LOOPBACK.exec(uri) ?? [];
  if (place === undefined || (port !== undefined && Number(port) > 65_535)) return undefined;
  return place + rest;
}
