// Tests of the client IP address of requests.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { networkOf, sourceAddress } from '../../../../../server/oauth/http/source-address.ts';
import { heapInUse } from '../../../../support/oauth/heap-in-use.ts';

function from(peer: string, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return request;
}

describe('sourceAddress', () => {
  it('ignores entries before those of trusted proxies', () => {
    const source = sourceAddress(['192.0.2.0/24', '203.0.113.5']);
    expect(source(from('192.0.2.1', '1.1.1.1, 198.51.100.7, 203.0.113.5'))).to.equal('198.51.100.7');
    expect(source(from('192.0.2.1', '198.51.100.7'))).to.equal('198.51.100.7');
    expect(source(from('192.0.2.1', 'unknown')), 'no address').to.equal('192.0.2.1');
    expect(sourceAddress([])(from('192.0.2.1', '198.51.100.7')), 'no trusted proxy').to.equal('192.0.2.1');
    expect(sourceAddress([])(from('::ffff:192.0.2.1')), 'an IPv4-mapped address').to.equal('192.0.2.1');
  });

  it('does not keep the rest of the header in memory', () => {
    const source = sourceAddress(['192.0.2.1']);
    const before = heapInUse();
    const remembered = Array.from({ length: 200 }, (_, i) => {
      const junk = Buffer.alloc(64_000, 'x').toString('latin1');
      return source(from('192.0.2.1', `${junk}, 198.51.100.${100 + (i % 100)}`));
    });
    expect(heapInUse() - before).to.be.below(4_000_000);
    expect(remembered).to.have.length(200);
  });
});

describe('networkOf', () => {
  it('is the /64 network of an IPv6 address', () => {
    for (const [address, network] of [
      ['192.0.2.1', '192.0.2.1'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8::1', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['2001:db8::', '2001:db8:0:0::/64'],
      ['2001::3:4:5:6:7:8', '2001:0:3:4::/64'],
      ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['', ''],
    ] as const) {
      expect(networkOf(address), address).to.equal(network);
    }
  });
});
