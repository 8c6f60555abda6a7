// Validates redirect URIs before registration (RFC 6749, 3.1.2; RFC 9700, 2.6). server/oauth/codes/redirect-target.ts
// matches the URIs of requests.

/** Groups: scheme and host, port, rest. Only a port, a path, a query or the end may follow the host. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** Description of the accepted URIs, for validation errors. */
export const ACCEPTED_REDIRECT_URIS =
  'https, http with a loopback host (localhost, 127.0.0.1, [::1]), or an app scheme with a dot, without a fragment';

/**
 * Whether a URI may be registered as a redirect URI. It must not have a fragment (RFC 6749, 3.1.2), or a scheme that
 * executes or renders its content, such as `javascript:`. Plain HTTP is valid for loopback hosts only (RFC 9700, 2.6).
 */
export function isAcceptedRedirectURI(uri: string): boolean {
  if (!PRINTABLE.test(uri) || uri.includes('#')) return false;
  if (!URL.canParse(uri)) return false;
  const { protocol } = new URL(uri);
  if (protocol === 'http:') return withoutLoopbackPort(uri) !== undefined;
  // RFC 8252, 7.1: an app scheme is a reversed domain name, so it contains a dot.
  return protocol === 'https:' || protocol.includes('.');
}

/**
 * Returns a loopback URI without its port, because the operating system may assign the port of a native app (RFC 8252,
 * 7.3); undefined for any other URI.
 */
export function withoutLoopbackPort(uri: string): string | undefined {
  const [, place, port, rest = ''] = LOOPBACK.exec(uri) ?? [];
  if (place === undefined || (port !== undefined && Number(port) > 65_535)) return undefined;
  return place + rest;
}
