// Tests of the limit of connections, with clients on several loopback networks and sites.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTLS, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { Listener } from '../../../../server/listener/listener.ts';
import { until } from '../../../support/until.ts';
import { issuedInMemory, listenInsecure, listenSecure, stopListenersEach } from './listening.ts';

const REQUEST = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

const PROXY = '127.0.9.1';

describe('the limit of connections', () => {
  stopListenersEach();
  let responses: ServerResponse[];
  let listener: Listener;

  beforeEach(async () => {
    responses = [];
    listener = await listenInsecure({
      limits: { connections: 4 },
      receiver: { request: (_, response) => void responses.push(response) },
      proxies: { hasAddress: (address) => address === PROXY, hasCertificate: () => true },
    });
  });

  async function opened(localAddress: string): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: listener.address.port, localAddress });
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves when the request of a connection has arrived. */
  async function busy(socket: Socket): Promise<void> {
    const before = responses.length;
    socket.write(REQUEST);
    await until(() => responses.length === before + 1);
  }

  it('lets a newcomer displace the newest idle connection of the network with the most', async () => {
    const crowd: Socket[] = [];
    for (let i = 0; i < 4; i++) crowd.push(await opened('127.0.0.2'));
    await until(() => listener.connections === 4);
    const [, , third, newest] = crowd;
    if (newest) await busy(newest);
    const newcomer = await opened('127.0.0.1');
    await busy(newcomer);
    if (third) await until(() => third.closed);
    expect(crowd.map(({ closed }) => closed)).to.deep.equal([false, false, true, false]);
    for (const socket of [...crowd, newcomer]) socket.destroy();
  });

  it('displaces a busy connection if the network has no idle one', async () => {
    const crowd: Socket[] = [];
    for (let i = 0; i < 4; i++) {
      const socket = await opened('127.0.0.2');
      await busy(socket);
      crowd.push(socket);
    }
    const newcomer = await opened('127.0.0.1');
    await busy(newcomer);
    await until(() => crowd[3]?.closed ?? false);
    expect(crowd.map(({ closed }) => closed)).to.deep.equal([false, false, false, true]);
    for (const socket of [...crowd, newcomer]) socket.destroy();
  });

  it('closes a further connection of the network with the most', async () => {
    const crowd: Socket[] = [];
    for (let i = 0; i < 3; i++) crowd.push(await opened('127.0.0.2'));
    const other = await opened('127.0.0.1');
    await until(() => listener.connections === 4);
    const further = await opened('127.0.0.2');
    await until(() => further.closed);
    expect([...crowd, other].map(({ closed }) => closed)).to.deep.equal([false, false, false, false]);
    for (const socket of [...crowd, other]) socket.destroy();
  });

  /** Opens a connection from each address in turn, and returns those that are closed afterwards. */
  async function displacedBy(
    newcomer: string,
    addresses: readonly string[],
    isBusy = false,
  ): Promise<number[]> {
    const crowd: Socket[] = [];
    for (const address of addresses) {
      const socket = await opened(address);
      if (isBusy) await busy(socket);
      crowd.push(socket);
      await until(() => listener.connections === crowd.length);
    }
    const socket = await opened(newcomer);
    const all = [...crowd, socket];
    await until(() => all.some(({ closed }) => closed));
    const displaced = [...all.keys()].filter((i) => all[i]?.closed);
    for (const each of all) each.destroy();
    await until(() => listener.connections === 0);
    return displaced;
  }

  it('closes the oldest connection if all networks have one', async () => {
    expect(
      await displacedBy('127.0.5.1', ['127.0.1.1', '127.0.2.1', '127.0.3.1', '127.0.4.1']),
    ).to.deep.equal([0]);
  });

  it('closes the oldest busy connection if all networks have one without an idle one', async () => {
    const networks = ['127.0.1.1', '127.0.2.1', '127.0.3.1', '127.0.4.1'];
    expect(await displacedBy('127.0.5.1', networks, true)).to.deep.equal([0]);
  });

  it('counts the networks of a site together', async () => {
    const networks = ['127.0.1.1', '127.0.2.1', '127.0.2.2', '127.0.2.3'];
    expect(await displacedBy('127.0.5.1', networks)).to.deep.equal([3]);
  });

  it('does not count the connections of a proxy together', async () => {
    expect(await displacedBy('127.0.5.1', [PROXY, PROXY, '127.0.2.2', '127.0.2.2'])).to.deep.equal([3]);
    expect(await displacedBy(PROXY, [PROXY, PROXY, '127.0.2.2', '127.0.2.2'])).to.deep.equal([3]);
  });

  it('lets a newcomer displace an idle connection of a proxy that has all', async () => {
    expect(await displacedBy('127.0.5.1', [PROXY, PROXY, PROXY, PROXY])).to.deep.equal([0]);
  });

  it('recognizes a proxy by its certificate', async () => {
    const end = new AbortController();
    const certificates = await issuedInMemory(end.signal);
    const limited = await listenSecure(certificates, {
      limits: { connections: 4 },
      proxies: {
        hasAddress: () => false,
        hasCertificate: (connection) => connection.remoteAddress === PROXY,
      },
    });
    const crowd: TLSSocket[] = [];
    for (const localAddress of [PROXY, PROXY, PROXY, '127.0.2.1', '127.0.2.1']) {
      const { port } = limited.address;
      const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false };
      const socket = connectTLS(options);
      socket.on('error', () => undefined).resume();
      crowd.push(socket);
      // The server closes the last one before its handshake.
      await once(socket, 'secureConnect').catch(() => undefined);
    }
    await until(() => crowd.some(({ closed }) => closed));
    expect(crowd.map(({ closed }) => closed)).to.deep.equal([false, false, false, false, true]);
    for (const socket of crowd) socket.destroy();
    end.abort();
  });
});
