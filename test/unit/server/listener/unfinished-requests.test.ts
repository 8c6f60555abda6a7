import { once } from 'node:events';
import { expect } from 'chai';
import { type Incoming, UnfinishedRequests } from '../../../../server/listener/unfinished-requests.ts';
import { until } from '../../../support/until.ts';
import { listenInsecure, open, readAll, stop } from './listening.ts';

class Connection implements Incoming {
  bytesRead = 0;
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
  }
}

describe('what has come of requests that are not complete', () => {
  let requests: UnfinishedRequests;
  let connections: readonly [Connection, Connection, Connection];

  beforeEach(() => {
    requests = new UnfinishedRequests(100);
    connections = [new Connection(), new Connection(), new Connection()];
    for (const connection of connections) requests.add(connection);
  });

  function bring(...bytes: readonly number[]): void {
    for (const [index, connection] of connections.entries()) connection.bytesRead += bytes[index] ?? 0;
  }

  const cut = (): readonly boolean[] => connections.map(({ destroyed }) => destroyed);

  it('stays as long as all of it together is not too much', () => {
    bring(40, 30, 30);
    expect(requests.cut()).to.equal(0);
    expect(cut()).to.deep.equal([false, false, false]);
  });

  it('goes with the connections that have brought most', () => {
    bring(40, 90, 50);
    expect(requests.cut()).to.equal(1);
    expect(cut()).to.deep.equal([false, true, false]);
  });

  it('is only what came behind the last request', () => {
    bring(500, 60, 70);
    requests.mark(connections[0]);
    bring(10, 0, 0);
    expect(requests.cut()).to.equal(1);
    expect(cut()).to.deep.equal([false, false, true]);
  });

  it('is not what a connection has brought that is no longer one of HTTP', () => {
    bring(500);
    requests.delete(connections[0]);
    requests.mark(connections[0]);
    bring(500);
    expect(requests.cut()).to.equal(0);
  });

  it('is bounded at a listener, where connections with complete requests stay', async () => {
    const listener = await listenInsecure({ limits: { connections: 1000 } });
    try {
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
      // 64 MiB are 268 of them.
      await until(() => closed >= 300 - 268);
      expect(closed).to.be.lessThan(100);
      honest.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      expect(await readAll(honest)).to.match(/^HTTP\/1\.1 200 /);
      for (const socket of others) socket.destroy();
    } finally {
      await stop(listener);
    }
  });
});
