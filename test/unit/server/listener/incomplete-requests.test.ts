// Tests of the memory limit for incomplete requests.
import { once } from 'node:events';
import { expect } from 'chai';
import { type Incoming, IncompleteRequests } from '../../../../server/listener/incomplete-requests.ts';
import { until } from '../../../support/until.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

class Connection implements Incoming {
  bytesRead = 0;
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
  }
}

describe('IncompleteRequests', () => {
  stopListenersEach();
  let requests: IncompleteRequests;
  let connections: readonly [Connection, Connection, Connection];

  beforeEach(() => {
    requests = new IncompleteRequests(100);
    connections = [new Connection(), new Connection(), new Connection()];
    for (const connection of connections) requests.add(connection);
  });

  function receive(...bytes: readonly number[]): void {
    for (const [index, connection] of connections.entries()) connection.bytesRead += bytes[index] ?? 0;
  }

  const destroyed = (): readonly boolean[] => connections.map((connection) => connection.destroyed);

  it('destroys the connection with the largest incomplete request beyond the limit', () => {
    receive(40, 30, 30);
    expect(requests.enforceLimit()).to.equal(0);
    receive(0, 60, 20);
    expect(requests.enforceLimit()).to.equal(1);
    expect(destroyed()).to.deep.equal([false, true, false]);
  });

  it('limits a listener, and keeps connections with complete requests', async () => {
    const listener = await listenInsecure({ limits: { connections: 1000 } });
    const honest = await open(listener);
    honest.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(honest, 'data');
    const part = `GET /livez HTTP/1.1\r\nHost: x\r\nLong: ${'x'.repeat(250_000)}`;
    const others = await Promise.all(Array.from({ length: 300 }, () => open(listener)));
    let closed = 0;
    for (const socket of others) {
      socket.once('close', () => closed++).on('error', () => undefined);
      socket.write(part);
    }
    // The limit of 64 MiB allows 268 of these requests.
    await until(() => closed >= 300 - 268);
    expect(closed).to.be.lessThan(100);
    honest.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await readAll(honest)).to.match(/^HTTP\/1\.1 200 /);
    for (const socket of others) socket.destroy();
  });
});
