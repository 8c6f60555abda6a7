import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { sourceAddress } from '../../../../../server/oauth/http/source-address.ts';
import { heapInUse } from '../../../../support/oauth/heap-in-use.ts';

function from(peer: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return request;
}

describe('sourceAddress', () => {
  it('is the peer while no proxy is trusted, whatever it forwards', () => {
    expect(sourceAddress([])(from('192.0.2.1', '198.51.100.7'))).to.equal('192.0.2.1');
  });

  it('is what a trusted proxy forwards', () => {
    expect(sourceAddress(['192.0.2.0/24'])(from('192.0.2.1', '198.51.100.7'))).to.equal('198.51.100.7');
  });

  it('leaves unread what stood in the header before the first trusted proxy wrote to it', () => {
    const source = sourceAddress(['192.0.2.0/24', '203.0.113.5']);
    expect(source(from('192.0.2.1', '1.1.1.1, 198.51.100.7, 203.0.113.5'))).to.equal('198.51.100.7');
  });

  it('is the trusted proxy when what it forwards is no address', () => {
    expect(sourceAddress(['192.0.2.1'])(from('192.0.2.1', 'unknown'))).to.equal('192.0.2.1');
  });

  it('is an IPv4 address as itself when it came over IPv6', () => {
    expect(sourceAddress([])(from('::ffff:192.0.2.1'))).to.equal('192.0.2.1');
  });

  it('keeps nothing of the header in memory when it is remembered', () => {
    const source = sourceAddress(['192.0.2.1']);
    const before = heapInUse();
    const remembered = Array.from({ length: 500 }, (_, i) => {
      const junk = Buffer.alloc(64_000, 'x').toString('latin1');
      return source(from('192.0.2.1', `${junk}, 198.51.100.${100 + (i % 100)}`));
    });
    expect(heapInUse() - before).to.be.below(10_000_000);
    expect(remembered).to.have.length(500);
  });
});
