// Where the authorization endpoint may send a browser: only to what is registered, compared as text, so that no two
// programs can read one URI in two ways (RFC 9700, 2.1). The one exception is the port of a program on the same
// machine, which it cannot choose beforehand (RFC 8252, 7.3).
import { isRedirectable, withoutLoopbackPort } from '../../../apis/oauth/redirect-uri.ts';

export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (!isRedirectable(uri)) return false;
  if (registered.includes(uri)) return true;
  const loopback = withoutLoopbackPort(uri);
  return (
    loopback !== undefined && registered.some((candidate) => withoutLoopbackPort(candidate) === loopback)
  );
}

export type URIPart = 'query' | 'fragment';

/**
 * `uri` with `parameters` behind what its query holds already (RFC 6749, 4.1.2), or as its fragment, of which it has none.
 * The text in front of them stays as it is registered.
 */
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

/** The name of the place as people are shown it. */
export function placeName(uri: string): string {
  const { protocol, host } = new URL(uri);
  return host === '' ? protocol : host;
}
