const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An IPv4 address that came over a socket for both families, as itself: a log is searched for addresses. */
export function plainAddress(address: string): string {
  // Asked at every request, and most addresses begin otherwise.
  return address.startsWith('::') ? (MAPPED.exec(address)?.[1] ?? address) : address;
}
