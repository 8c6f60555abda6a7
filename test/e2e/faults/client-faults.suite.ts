// Tests of clients that flood the server, or keep its connections open.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { Client } from '../../../hack/control-plane/client.ts';
import { fault } from '../../support/faults.ts';
import { openTLS } from '../gateway/raw-request.ts';
import { type FaultPlatform, NODES, WORKING } from './fault-platform.ts';

/** The default of `listeners.limits.connections`. */
const MAX_CONNECTIONS = 10_000;
const OPENING = 64;
const SLOW_CLIENTS = 200;
const FLOODING_CLIENTS = 300;

export function describeClientFaults(subject: () => FaultPlatform): void {
  fault('a flood of invalid tokens', async (recovers) => {
    const { ahead, answers, ca } = subject();
    expect(await ahead.statuses()).to.deep.equal(WORKING);
    answers.break({ delayMs: 300 });
    using flood = new Client(ahead.server.url, { ca }, FLOODING_CLIENTS);
    const seen = new Set<number>();
    const end = new AbortController();
    const clients = Array.from({ length: FLOODING_CLIENTS }, async () => {
      while (!end.signal.aborted) seen.add((await flood.send(NODES, { token: randomUUID() })).status);
    });
    // Without a cache of TokenReviews, each of these requests needs one.
    const known: number[] = [];
    for (let i = 0; i < 10; i++) known.push(await ahead.known());
    end.abort();
    await Promise.all(clients);
    expect(new Set(known)).to.deep.equal(new Set([200]));
    expect(seen).to.deep.equal(new Set([401]));
    answers.break(undefined);
    await recovers(() => ahead.works());
  });

  fault('clients send their requests slowly (Slowloris)', async (recovers) => {
    const { ahead, ca } = subject();
    const slow: { readonly socket: Socket; readonly writing: NodeJS.Timeout }[] = [];
    const trickle = async (start: string): Promise<void> => {
      const socket = (await openTLS({ port: ahead.port, ca })).on('error', () => undefined);
      socket.write(start);
      slow.push({ socket, writing: setInterval(() => socket.write('x'), 100) });
    };
    const headers = 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ';
    const type = 'Content-Type: application/x-www-form-urlencoded';
    const body = `POST /oauth/token HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 1000\r\n\r\n`;
    await Promise.all(Array.from({ length: SLOW_CLIENTS }, (_, i) => trickle(i % 2 === 0 ? headers : body)));
    // A test of the listener checks that each of them gets 408 in the end.
    expect(await ahead.statuses()).to.deep.equal(WORKING);
    for (const { socket, writing } of slow) {
      clearInterval(writing);
      socket.destroy();
    }
    await recovers(() => ahead.works());
  });

  fault('10,000 idle connections', async (recovers) => {
    const { faulty, plainPort } = subject();
    const idle: Socket[] = [];
    /** Resolves with false if the server closes the connection. */
    const open = async (): Promise<boolean> => {
      const socket = connect(plainPort, '127.0.0.1').on('error', () => undefined);
      idle.push(socket);
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      const { promise, resolve } = Promise.withResolvers<boolean>();
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
      return promise;
    };
    const opened = await Promise.all(
      Array.from({ length: OPENING }, async () => {
        let own = 0;
        while (await open()) own++;
        return own;
      }),
    );
    expect(opened.reduce((sum, own) => sum + own)).to.equal(MAX_CONNECTIONS);
    // The connections that are already open work, and so does the other port.
    const [first] = idle;
    first?.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    if (first) await once(first, 'data');
    expect(await faulty.statuses()).to.deep.equal(WORKING);
    for (const socket of idle) socket.destroy();
    await recovers(async () => (await open()) && (await faulty.works()));
    for (const socket of idle) socket.destroy();
  });
}
