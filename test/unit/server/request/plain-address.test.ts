// Tests of the conversion of IPv4-mapped IPv6 addresses.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { Exchange } from '../../../../server/filters/exchange.ts';
import { plainAddress } from '../../../../server/request/plain-address.ts';

describe('plainAddress', () => {
  it('returns an IPv4-mapped address as IPv4, and other addresses unchanged', () => {
    for (const address of ['192.0.2.7', '::1', '2001:db8::7', '::ffff:c000:207']) {
      expect(plainAddress(address)).to.equal(address);
    }
    for (const prefix of ['::ffff:', '::FFFF:'])
      expect(plainAddress(`${prefix}192.0.2.7`)).to.equal('192.0.2.7');
  });

  it('is equal on a dual-stack socket', async () => {
    const server = createServer().listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const arrived = once(server, 'request');
    const client = request({ host: '127.0.0.1', port }).end();
    client.on('error', () => undefined);
    const [incoming, response] = await arrived;
    const arrival = { request: incoming, response, secure: false, upgrade: undefined };
    const { source } = new Exchange(arrival, pino({ enabled: false }), 0, 0);
    client.destroy();
    server.close();
    expect(source).to.equal('127.0.0.1');
  });
});
