// Tests of the filter chain with incomplete request bodies.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { readBody } from '../../../../server/request/request-body.ts';
import { until } from '../../../support/until.ts';
import { ask, type ChainFixture, chainEach, NODES, rawConnection } from './chain-fixture.ts';

const limits = { maxReadOnly: 1, maxMutating: 1, maxLongRunning: 1, maxBodyBytes: 1000, timeoutMs: 60_000 };
const write = { method: 'POST', headers: { 'test-user': 'alice' } };

describe('a request with an incomplete body', () => {
  const start = chainEach();
  let now: number;
  let chain: ChainFixture;
  let hold: Promise<void> | undefined;
  let read: PromiseWithResolvers<void>;

  beforeEach(async () => {
    now = 0;
    hold = undefined;
    read = Promise.withResolvers();
    chain = await start({
      limits,
      monotonic: () => now,
      handler: async ({ request, response }) => {
        await readBody(request, 1000);
        read.resolve();
        await hold;
        response.end('done');
      },
    });
  });

  /** Sends a request with a Content-Length of four bytes, and waits until the server counts it. */
  async function announced(body: string): Promise<TLSSocket> {
    const socket = await rawConnection(chain);
    socket.write(`POST ${NODES} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\nContent-Length: 4\r\n\r\n${body}`);
    await until(() => chain.gauges.mutating === 1);
    return socket;
  }

  it('is preempted by a complete request, and gets 429', async () => {
    const socket = await announced('x');
    now = 1000;
    const received = text(socket);
    expect(await ask(chain, NODES, { ...write, body: 'body' })).to.include({ status: 200, body: 'done' });
    expect(await received)
      .to.match(/^HTTP\/1\.1 429 [^]*retry-after: 1\r\n/i)
      .and.to.match(/connection: close/i);
    await until(() => chain.gauges.mutating === 0);
  });

  it('has its slot for at least a second, and until another request needs it', async () => {
    const socket = await announced('xx');
    now = 999;
    expect((await ask(chain, NODES, { ...write, body: 'body' })).status).to.equal(429);
    now = 50_000;
    socket.write('xx');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('is not preempted as a read, whose slots are separate', async () => {
    const socket = await rawConnection(chain);
    socket.write(`GET ${NODES} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\nContent-Length: 4\r\n\r\n`);
    await until(() => chain.gauges.readOnly === 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const worked = ask(chain, NODES, { ...write, body: 'body' });
    await read.promise;
    now = 30_000;
    expect((await ask(chain, NODES, { ...write, body: 'body' })).status).to.equal(429);
    resolve();
    expect((await worked).status).to.equal(200);
    socket.write('body');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('does not preempt a slow request whose body is complete', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const socket = await announced('');
    socket.write('body');
    const first = once(socket, 'data');
    await read.promise;
    now = 30_000;
    expect((await ask(chain, NODES, { ...write, body: 'body' })).status).to.equal(429);
    resolve();
    const [answer] = (await first) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });
});
