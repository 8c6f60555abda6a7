// Tests of the turns of TLS handshakes.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { HandshakeTurns } from '../../../../server/listener/handshake-turns.ts';
import { until } from '../../../support/until.ts';

describe('the turns of handshakes', () => {
  let server: Server;
  let started: (string | undefined)[];
  let closed: number;
  const clients: Socket[] = [];

  async function listen(timeoutMs = 10_000): Promise<void> {
    const turns = new HandshakeTurns({ timeoutMs, timedOut: (socket) => socket.destroy(), now: () => 0 });
    started = [];
    closed = 0;
    server = createServer((socket) => {
      socket.once('close', () => closed++);
      turns.wait(socket, () => started.push(socket.remoteAddress));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  async function opened(localAddress: string): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => undefined);
    clients.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  afterEach(() => {
    for (const socket of clients.splice(0)) socket.destroy();
    server.close();
  });

  it('starts a handshake of a new network before those that arrived earlier', async () => {
    await listen();
    const flood = await Promise.all(Array.from({ length: 64 }, () => opened('127.0.2.1')));
    for (const socket of [...flood, await opened('127.0.3.1')]) socket.write('hello');
    await until(() => started.length === 65);
    expect(started.indexOf('127.0.3.1')).to.be.below(8);
  });

  it('takes no turn for a client that sends nothing, closes, or resets its connection', async () => {
    await listen();
    await opened('127.0.2.1');
    (await opened('127.0.2.1')).end();
    (await opened('127.0.2.1')).resetAndDestroy();
    await until(() => closed === 2);
    (await opened('127.0.2.1')).write('hello');
    await until(() => started.length === 1);
    expect(closed).to.equal(2);
  });

  it('closes a connection without a first byte in time', async () => {
    await listen(10);
    await opened('127.0.2.1');
    await until(() => closed === 1);
    expect(started).to.deep.equal([]);
  });
});
