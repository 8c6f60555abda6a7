// Networks and sites of clients: the callers without a user, who share capacity by their addresses.
import { isIPv4, isIPv6 } from 'node:net';

const PREFIX = 'network ';

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

/** The caller of requests without a user. */
export function networkCaller(address: string): string {
  return PREFIX + networkOf(address);
}

/** The group of a caller: the site of a network, or the caller itself. */
export function groupOf(caller: string): string {
  return caller.startsWith(PREFIX) ? PREFIX + siteOf(caller.slice(PREFIX.length)) : caller;
}

/**
 * The site of a network: its IPv4 /24 or IPv6 /48. A /48 is the largest prefix that providers give to one customer (RFC 6177), and its
 * 65,536 networks must not have a share each.
 */
export function siteOf(network: string): string {
  if (isIPv4(network)) return `${network.slice(0, network.lastIndexOf('.'))}.0/24`;
  if (!network.endsWith('::/64')) return network;
  return `${network.split(':').slice(0, 3).join(':')}::/48`;
}
