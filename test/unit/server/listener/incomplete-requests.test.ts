// Tests of the memory limit for incomplete requests.
import { once } from 'node:events';
import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

describe('IncompleteRequests', () => {
  stopListenersEach();

  it('closes the connections with the largest incomplete requests, and keeps those with complete ones', async () => {
    const listener = await listenInsecure({ limits: { connections: 1000 } });
    const [complete, small] = [await open(listener), await open(listener)];
    complete.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(complete, 'data');
    small.write('GET /livez HTTP/1.1\r\nHost: x\r\n');
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
    complete.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    small.write('Connection: close\r\n\r\n');
    const answers = await Promise.all([complete, small].map(readAll));
    for (const answer of answers) expect(answer).to.match(/^HTTP\/1\.1 200 /);
    for (const socket of others) socket.destroy();
  });
});
