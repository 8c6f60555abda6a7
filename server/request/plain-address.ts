const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Returns an IPv4-mapped IPv6 address as an IPv4 address, for logs. */
export function plainAddress(address: string): string {
  // The regular expression is skipped for most addresses.
  return address.startsWith('::') ? (MAPPED.exec(address)?.[1] ?? address) : address;
}
