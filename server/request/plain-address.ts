// Converts IPv4-mapped IPv6 addresses to IPv4 addresses, for logs.

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Converts an IPv4-mapped IPv6 address to an IPv4 address, for logs. Returns other addresses unchanged. */
export function plainAddress(address: string): string {
  // For speed, most addresses skip the regular expression.
  return address.startsWith('::') ? (MAPPED.exec(address)?.[1] ?? address) : address;
}
