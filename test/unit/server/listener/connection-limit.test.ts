// Tests of the limit of connections, with clients on two loopback networks.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Listener } from '../../../../server/listener/listener.ts';
import { until } from '../../../support/until.ts';
import { listenInsecure, stopListenersEach } from './listening.ts';

const REQUEST = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

describe('the limit of connections', () => {
  stopListenersEach();
  let responses: ServerResponse[];
  let listener: Listener;

  beforeEach(async () => {
    responses = [];
    listener = await listenInsecure({
      limits: { connections: 4 },
      receiver: { request: (_, response) => void responses.push(response) },
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
});
