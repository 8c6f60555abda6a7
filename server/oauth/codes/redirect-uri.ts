// Where the authorization endpoint may send a browser: only to what is registered, compared as text, so that no two
// programs can read one URI in two ways (RFC 9700, 2.1). The one exception is the port of a program on the same
// machine, which it can not choose beforehand (RFC 8252, 7.3).

/** Scheme and host, port, the rest. Nothing but a port, a path, a query or the end may follow the host. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (!isRedirectable(uri)) return false;
  if (registered.includes(uri)) return true;
  const loopback = withoutPort(uri);
  return loopback !== undefined && registered.some((candidate) => withoutPort(candidate) === loopback);
}

/**
 * `uri` with `parameters` behind what its query holds already (RFC 6749, 4.1.2). The text in front of them stays as it
 * is registered.
 */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) added.append(name, value);
  }
  return `${uri}${uri.includes('?') ? '&' : '?'}${added.toString()}`;
}

/** What a Content-Security-Policy calls the place: the origin, or the scheme where there is no such name for it. */
export function policySource(uri: string): string {
  const { protocol, origin, hostname } = new URL(uri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  // An IPv6 address has no form in the grammar of host sources.
  return isWeb && !hostname.startsWith('[') ? origin : protocol;
}

/** The name of the place as people are shown it. */
export function placeName(uri: string): string {
  const { protocol, host } = new URL(uri);
  return host === '' ? protocol : host;
}

/**
 * No fragment (RFC 6749, 3.1.2), no scheme that runs or shows what it holds, such as `javascript:`, and none that others
 * on the way can read, but on the machine itself (RFC 9700, 2.6).
 */
export function isRedirectable(uri: string): boolean {
  if (!PRINTABLE.test(uri) || uri.includes('#')) return false;
  if (!URL.canParse(uri)) return false;
  const { protocol } = new URL(uri);
  if (protocol === 'http:') return withoutPort(uri) !== undefined;
  // RFC 8252, 7.1: the scheme of an app is a domain name turned round, so it has a dot.
  return protocol === 'https:' || protocol.includes('.');
}

function withoutPort(uri: string): string | undefined {
  const [, place, port, rest = ''] = LOOPBACK.exec(uri) ?? [];
  if (place === undefined || (port !== undefined && Number(port) > 65_535)) return undefined;
  return place + rest;
}
