import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddress from 'proxy-addr';
import { plainAddress } from '../../request/plain-address.ts';

/** Where a request comes from: the address of the peer or, behind trusted proxies, the one that they forward. */
export type SourceAddress = (request: IncomingMessage) => string;

/**
 * `trusted`: addresses and networks of proxies. Of `X-Forwarded-For` only what such proxies have added counts, from
 * the right; what a client wrote into it stays unread.
 */
export function sourceAddress(trusted: readonly string[]): SourceAddress {
  const isTrusted = proxyAddress.compile([...trusted]);
  return (request) => {
    let source = '';
    // Nearest first; the first one that is no trusted proxy is the source.
    for (const address of proxyAddress.all(request, isTrusted)) {
      const plain = plainAddress(address);
      if (isIP(plain) === 0) break;
      source = plain;
    }
    return copied(source);
  };
}

/** A slice keeps the whole text in memory; addresses are remembered, and must not keep the headers. */
function copied(address: string): string {
  return Buffer.from(address, 'latin1').toString('latin1');
}
