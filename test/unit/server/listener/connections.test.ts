// Tests of connections with pipelined requests.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { RequestReceiver } from '../../../../server/listener/listener.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { openChain } from '../../../support/open-chain.ts';
import { until } from '../../../support/until.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

/**
 * Resolves when the socket is closed. Ignores errors, because a client that is still sending gets ECONNRESET at the
 * close.
 */
function ended(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => undefined);
  socket.once('close', () => resolve());
  socket.resume();
  return promise;
}

const REQUEST = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

describe('pipelined requests', () => {
  stopListenersEach();

  const long = `GET /livez HTTP/1.1\r\nHost: x\r\nLong: ${'x'.repeat(100_000)}\r\n\r\n`;
  for (const [what, chunks, answers, least, most] of [
    ['beyond the limit', Array<string>(20).fill(REQUEST.repeat(100)), false, 1, 1],
    [
      'when their headers together exceed the limit of one request',
      Array<string>(20).fill(long),
      false,
      1,
      1,
    ],
    ['beyond the limit, even if every response is sent immediately', [REQUEST.repeat(1000)], true, 1, 999],
  ] as const) {
    it(`close the connection ${what}`, async () => {
      let seen = 0;
      const receiver: Partial<RequestReceiver> = {
        request: (_request, response) => {
          seen++;
          if (answers) response.end('ok');
        },
      };
      const listener = await listenInsecure({ receiver });
      const socket = await open(listener);
      const end = ended(socket);
      for (const chunk of chunks) socket.write(chunk);
      await end;
      expect(seen).to.be.within(least, most);
    });
  }

  it('start one after the other, when the client has received the response before', async () => {
    const started: ServerResponse[] = [];
    const receiver: Partial<RequestReceiver> = { request: (_, response) => void started.push(response) };
    const listener = await listenInsecure({ receiver });
    const socket = await open(listener);
    const received = readAll(socket);
    socket.write(REQUEST.repeat(2) + REQUEST.replace('Host', 'Connection: close\r\nHost'));
    for (const count of [1, 2, 3]) {
      await until(() => started.length === count);
      // The bytes of all three requests arrived together.
      started.at(-1)?.end(`response ${count};`);
    }
    expect((await received).match(/response \d;/g)).to.deep.equal([
      'response 1;',
      'response 2;',
      'response 3;',
    ]);
  });

  describe('with an upgrade behind them', () => {
    const UPGRADE = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

    /** The responses to the requests in REQUEST wait for `answered`. */
    function serving(answered: Promise<void>) {
      const chain = openChain({
        handlers: new Map<string, Handler>([
          [
            '/livez',
            async ({ response }) => {
              await answered;
              response.end('late;');
            },
          ],
          ['/healthz', ({ response }) => void response.end('ordinary;')],
        ]),
        signal: new AbortController().signal,
      });
      const receiver: Partial<RequestReceiver> = {
        request: (request, response) => chain.serve(request, response, false),
        upgrade: (request, socket, head) => chain.serveUpgrade(request, socket, head, false),
      };
      return { chain, receiver };
    }

    it('get ordinary responses in order, and the connection closes', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { receiver } = serving(promise);
      const listener = await listenInsecure({ receiver });
      const socket = await open(listener);
      socket.write(`${REQUEST}${UPGRADE}`);
      resolve();
      expect((await readAll(socket)).match(/\w+;/g)).to.deep.equal(['late;', 'ordinary;']);
    });

    it('are aborted when a CONNECT follows', async () => {
      const { chain, receiver } = serving(new Promise(() => undefined));
      const listener = await listenInsecure({ receiver });
      const socket = await open(listener);
      socket.write(`${REQUEST.repeat(3)}CONNECT elsewhere:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await readAll(socket)).to.equal('');
      expect(chain.open).to.equal(0);
    });
  });
});
