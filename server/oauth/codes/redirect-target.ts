// Compares a redirect URI with the registered URIs of a client. URIs must be equal (RFC 9700, 2.1), except for
// loopback ports (RFC 8252, 7.3).
import { isAcceptedRedirectURI, withoutLoopbackPort } from '../../../apis/oauth/redirect-uri.ts';

export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (!isAcceptedRedirectURI(uri)) return false;
  if (registered.includes(uri)) return true;
  const loopback = withoutLoopbackPort(uri);
  return (
    loopback !== undefined && registered.some((candidate) => withoutLoopbackPort(candidate) === loopback)
  );
}

type URIPart = 'query' | 'fragment';

/** How a client gets the response: in a part of the redirect URI, or as a form (OAuth 2.0 Form Post Response Mode). */
export type ResponseMode = URIPart | 'form_post';

/** Appends `parameters` to the query of `uri` (RFC 6749, 4.1.2), or as its fragment. The rest of the URI is unchanged. */
export function withParameters(
  uri: string,
  parameters: Readonly<Record<string, string | undefined>>,
  part: URIPart = 'query',
): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) added.append(name, value);
  }
  const query = uri.includes('?') ? '&' : '?';
  return `${uri}${part === 'fragment' ? '#' : query}${added.toString()}`;
}

/** As the URL parser normalizes them; a name may end with a dot. */
const LOOPBACK_HOST = /^(?:(?:.*\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Whether only the registered client can use a code that is sent to `uri`. Any program of a machine can listen at a loopback
 * address, and claim a private scheme, so the user must confirm these, unless the identity of the client is assured (RFC 8252,
 * 8.6): with `https`, another program needs a certificate that the browser trusts, and the secret of the client. `host`: the
 * header Host of the request: what the browser sends to this server, it can also send to a page of this server.
 */
export function reachesOnlyClient(uri: string, isPublic: boolean, host = ''): boolean {
  const target = new URL(uri);
  if (target.protocol !== 'https:') return false;
  return !isPublic || !LOOPBACK_HOST.test(target.hostname) || target.host === host;
}

/** The host of a redirect URI, for display; the scheme for a URI without host. */
export function displayHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return host === '' ? protocol : host;
}
