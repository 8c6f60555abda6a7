import { isIPv6 } from 'node:net';

/**
 * What counts as one source: an IPv4 address, or the /64 network of an IPv6 one, since a single subscriber has as many
 * addresses as a /64 holds.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  // The URL parser writes groups in hexadecimal without leading zeros, and abbreviates at one place at most.
  const [head = '', tail] = new URL(`http://[${plain}]/`).hostname.slice(1, -1).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
