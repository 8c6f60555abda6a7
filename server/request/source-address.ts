// Determines the address and the scheme of the client behind proxies. Only what trusted proxies have added to
// X-Forwarded-For, X-Forwarded-Proto and Forwarded (RFC 7239) is used.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import proxyAddress from 'proxy-addr';
import { plainAddress } from './plain-address.ts';
import type { RequestContext } from './request-context.ts';

/** The client address: the peer address or, behind trusted proxies, the forwarded address. */
export type SourceAddress = (request: IncomingMessage) => string;

/** Whether the client uses TLS, to this server or to the first proxy. */
export type TLSCheck = (context: Pick<RequestContext, 'request' | 'secure'>) => boolean;

/**
 * `trusted`: addresses and networks of proxies. `X-Forwarded-For` is read from the right, and only the entries that
 * trusted proxies have added are used.
 */
export function sourceAddress(trusted: readonly string[]): SourceAddress {
  const pathOf = trustedPath(trusted);
  return (request) => detached(pathOf(request).source);
}

/**
 * Trusted proxies decide, on the TLS listener too. Without a trusted proxy, the first entry decides, because many proxies append the
 * scheme of their own connection: a client that forges the entry deceives only itself.
 */
export function tlsCheck(trusted: readonly string[]): TLSCheck {
  const pathOf = trustedPath(trusted);
  return ({ secure, request }) => {
    const schemes = forwardedSchemes(request.headers);
    if (schemes.length === 0) return secure;
    const { proxies } = pathOf(request);
    if (proxies === 0) return secure || schemes[0] === 'https';
    // The entry of the first trusted proxy. A proxy that replaces the header leaves fewer entries than proxies.
    return schemes[Math.max(0, schemes.length - proxies)] === 'https';
  };
}

interface TrustedPath {
  /** The nearest address that is not a trusted proxy; the last known proxy if a proxy hides it. */
  readonly source: string;
  /** Number of trusted proxies between the source and this server. */
  readonly proxies: number;
}

/** Returns a check for the address of a trusted proxy. */
export function trustedProxy(trusted: readonly string[]): (address: string) => boolean {
  const compiled = proxyAddress.compile([...trusted]);
  return (address) => compiled(address, 0);
}

function trustedPath(trusted: readonly string[]): (request: IncomingMessage) => TrustedPath {
  const isTrusted = trustedProxy(trusted);
  return ({ socket, headers }) => {
    let source = plainAddress(socket.remoteAddress ?? '');
    let proxies = 0;
    for (const entry of entriesOf(headers['x-forwarded-for']).reverse()) {
      if (!isTrusted(source)) return { source, proxies };
      proxies++;
      const address = addressIn(entry);
      if (address === undefined) return { source, proxies };
      source = address;
    }
    return { source, proxies: isTrusted(source) ? proxies + 1 : proxies };
  };
}

function entriesOf(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return [];
  return String(header).split(',');
}

/**
 * The address of an entry, which some proxies write with a port, in brackets or in quotes. Undefined for `unknown` and
 * other identifiers without an address (RFC 7239, 6).
 */
function addressIn(entry: string): string | undefined {
  const text = unquoted(entry);
  const [, ipv6] = /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(text) ?? [];
  if (ipv6 !== undefined) return isIPv6(ipv6) ? plainAddress(ipv6) : undefined;
  const [, ipv4] = /^([\d.]+):[\w.-]+$/.exec(text) ?? [];
  if (ipv4 !== undefined) return isIPv4(ipv4) ? ipv4 : undefined;
  return isIP(text) === 0 ? undefined : plainAddress(text);
}

/** Schemes in lower case, the one of the client first. `Forwarded` is used only without `X-Forwarded-Proto`. */
function forwardedSchemes(headers: IncomingHttpHeaders): readonly string[] {
  const schemes =
    headers['x-forwarded-proto'] === undefined
      ? entriesOf(withoutSeparators(headers.forwarded)).map(protoIn)
      : entriesOf(headers['x-forwarded-proto']);
  return schemes.map((scheme) => unquoted(scheme).toLowerCase()).filter((scheme) => scheme !== '');
}

/** A string with escapes (RFC 9110, 5.6.4). Without a closing quote it includes the rest: the search stays linear. */
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|\\?$)/g;

/** Replaces separators in quoted strings, so that the header can be split. */
function withoutSeparators(header: string | undefined): string | undefined {
  return header?.replaceAll(QUOTED, (quoted) => quoted.replaceAll(/[,;]/g, '_'));
}

function protoIn(element: string): string {
  return /(?:^|;)[ \t]*proto=([^;]*)/i.exec(element)?.[1] ?? '';
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^"(.*)"$/.exec(trimmed)?.[1] ?? trimmed;
}

/** Copies the text: a substring would keep the whole header in memory while a cache holds the address. */
function detached(address: string): string {
  return Buffer.from(address, 'latin1').toString('latin1');
}

/** Address and program of a client. */
export interface ClientOrigin {
  readonly source: string;
  readonly userAgent: string;
}

export function originOf(request: IncomingMessage, sourceOf: SourceAddress): ClientOrigin {
  return { source: sourceOf(request), userAgent: request.headers['user-agent'] ?? '' };
}
