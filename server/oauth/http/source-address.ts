import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
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
