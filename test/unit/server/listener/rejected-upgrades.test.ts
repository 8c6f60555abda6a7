// Tests of connections whose upgrade is rejected.
import { once } from 'node:events';
import { expect } from 'chai';
import type { App } from '../../../../server/app.ts';
import type { Listener, RequestReceiver } from '../../../../server/listener/listener.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { openChain } from '../../../support/open-chain.ts';
import { until } from '../../../support/until.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

const STREAM = '/kapis/group/version/streams';

describe('a connection whose upgrade is rejected', () => {
  let listener: Listener;
  let chain: App;

  beforeEach(async () => {
    const stream: Handler = ({ response, signal }) => {
      response.writeHead(200).flushHeaders();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    };
    chain = openChain({ handlers: new Map([[STREAM, stream]]), signal: new AbortController().signal });
    const receiver: RequestReceiver = {
      request: (request, response) => chain.serve(request, response, false),
      upgrade: (request, socket, head) => chain.serveUpgrade(request, socket, head, false),
    };
    listener = await listenInsecure({ receiver });
  });
  stopListenersEach();

  const upgrade = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;

  it('closes, whether the client closes it, with bytes after the request, or not', async () => {
    const tunnel = 'CONNECT /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    const requests = [upgrade('/livez'), upgrade('/elsewhere'), tunnel];
    const sockets = await Promise.all(
      [...requests, ...requests].map(async (request, index) => {
        const socket = await open(listener);
        socket.allowHalfOpen = true;
        socket.on('error', () => undefined).write(request);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        expect(answer.toString()).to.match(/^HTTP\/1\.1 4\d\d /);
        if (index < requests.length) socket.end('ignored bytes');
        return socket;
      }),
    );
    await until(() => listener.connections === 0);
    for (const socket of sockets) socket.destroy();
  });

  for (const path of ['/livez', '/elsewhere']) {
    it(`is reset by the client without effect on others (${path})`, async () => {
      for (let i = 0; i < 20; i++) {
        const socket = await open(listener);
        socket.write(upgrade(path));
        socket.resetAndDestroy();
      }
      await until(() => listener.connections === 0);
      const socket = await open(listener);
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      expect(await readAll(socket)).to.match(/^HTTP\/1\.1 404 /);
    });
  }

  for (const [what, words] of [
    ['without further bytes', ''],
    ['after further bytes', 'ignored bytes'],
  ] as const) {
    it(`closes when its client disconnects ${what} during a streamed response`, async () => {
      const socket = await open(listener);
      socket.write(upgrade(STREAM));
      await once(socket, 'data');
      expect(chain.open).to.equal(1);
      socket.end(words);
      await until(() => chain.open === 0 && listener.connections === 0);
    });
  }
});
