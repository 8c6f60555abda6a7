// Determines the client IP address of a request. X-Forwarded-For is used only behind trusted proxies.
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import proxyAddress from 'proxy-addr';
import { plainAddress } from '../../request/plain-address.ts';

/** The client address: the peer address or, behind trusted proxies, the forwarded address. */
export type SourceAddress = (request: IncomingMessage) => string;

/**
 * `trusted`: addresses and networks of proxies. `X-Forwarded-For` is read from the right, and only the entries that
 * trusted proxies have added are used.
 */
export function sourceAddress(trusted: readonly string[]): SourceAddress {
  const isTrusted = proxyAddress.compile([...trusted]);
  return (request) => {
    let source = '';
    // Nearest first; the first address that is not a trusted proxy is the source.
    for (const address of proxyAddress.all(request, isTrusted)) {
      const plain = plainAddress(address);
      if (isIP(plain) === 0) break;
      source = plain;
    }
    return detached(source);
  };
}

/** Copies the text: a substring would keep the whole header in memory while a cache holds the address. */
function detached(address: string): string {
  return Buffer.from(address, 'latin1').toString('latin1');
}

/**
 * Network of an address for rate limits: an IPv4 address itself, or the /64 of an IPv6 address, because one subscriber
 * controls a whole /64.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  // The URL parser normalizes: hexadecimal groups without leading zeros, at most one `::`.
  const [head = '', tail] = new URL(`http://[${plain}]/`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
