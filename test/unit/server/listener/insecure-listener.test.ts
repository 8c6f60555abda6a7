import { once } from 'node:events';
import { expect } from 'chai';
import type { Listener, RequestReceiver } from '../../../../server/listener/listener.ts';
import { closeGracefully } from '../../../../server/request/graceful-close.ts';
import { type Listening, listenInsecure, open, readAll, stop } from './listening.ts';

describe('the plain-HTTP listener', () => {
  const started: Listener[] = [];

  async function listening(settings?: Listening): Promise<Listener> {
    const listener = await listenInsecure(settings);
    started.push(listener);
    return listener;
  }

  async function send(listener: Listener, bytes: string): Promise<string> {
    const socket = await open(listener);
    socket.write(bytes);
    return readAll(socket);
  }

  afterEach(async () => {
    await Promise.all(started.splice(0).map(stop));
  });

  it('hands health, OAuth and platform paths to the chain', async () => {
    const listener = await listening();
    const answer = await send(
      listener,
      'GET /readyz?verbose HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(answer).to.match(/^HTTP\/1.1 200 /);
  });

  it('answers a Status 404 for aggregated paths', async () => {
    const listener = await listening();
    const answer = await send(listener, 'GET /apis HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1.1 404 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ kind: 'Status', reason: 'NotFound' });
  });

  it('returns 400 for a request line without an HTTP version', async () => {
    const answer = await send(await listening(), 'GET /livez\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1.1 400 [^]*"reason":"BadRequest"/);
  });

  it('refuses chunks in HTTP/1.0, and takes nothing behind them for a request', async () => {
    const paths: string[] = [];
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        paths.push(request.url ?? '');
        response.end('taken');
      },
    };
    const listener = await listening({ receiver });
    const chunked = 'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    const answer = await send(listener, `POST /livez HTTP/1.0\r\n${chunked}GET /oauth/next HTTP/1.0\r\n\r\n`);
    expect(answer)
      .to.match(/^HTTP\/1.1 400 [^]*Connection: close/)
      .and.not.include('taken');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ kind: 'Status', code: 400 });
    expect(paths).to.deep.equal([]);
  });

  it('answers 431 with a Status when the headers are larger than the limit', async () => {
    const listener = await listening({ limits: { headers: 8192 } });
    const filler = 'x'.repeat(100_000);
    const answer = await send(listener, `GET /livez HTTP/1.1\r\nHost: x\r\nX-Filler: ${filler}\r\n\r\n`);
    expect(answer).to.match(/^HTTP\/1.1 431 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ kind: 'Status', code: 431 });
  });

  for (const [what, first, expected] of [
    ['request', 'GET /livez HTTP/1.1\r\nHost: x\r\n', /taken$/],
    ['tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n', /^HTTP\/1.1 404 /],
    ['upgrade', 'GET /livez HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n', /taken$/],
  ] as const) {
    it(`takes as many headers of a ${what} as it promises, and answers 431 with a Status to more`, async () => {
      const receiver: Partial<RequestReceiver> = {
        request: (_, response) => response.end('taken'),
        upgrade: (_, socket) => closeGracefully(socket, 'taken'),
      };
      const listener = await listening({ receiver });
      const there = first.split('\r\n').length - 2;
      const answerTo = (count: number): Promise<string> => {
        const fields = Array.from({ length: count - there - 1 }, (_, index) => `X-${index}: y\r\n`);
        return send(listener, `${first}Connection: close\r\n${fields.join('')}\r\n`);
      };
      expect(await answerTo(5_000)).to.match(expected);
      const refused = await answerTo(5_001);
      expect(refused).to.match(/^HTTP\/1.1 431 /);
      expect(JSON.parse(refused.split('\r\n\r\n')[1] ?? '')).to.include({ kind: 'Status', code: 431 });
      expect(await answerTo(20_000)).to.match(/^HTTP\/1.1 431 /);
    });
  }

  it('takes 200 KiB of headers, each of them, in hundreds of groups', async () => {
    let groups = 0;
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        groups = request.headersDistinct['x-remote-group']?.length ?? 0;
        response.end();
      },
    };
    const listener = await listening({ receiver });
    const headers = Array.from(
      { length: 3000 },
      (_, index) => `X-Remote-Group: ${'g'.repeat(40)}-${index}\r\n`,
    );
    await send(listener, `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join('')}\r\n`);
    expect(groups).to.equal(3000);
  });

  it('answers bytes that are no HTTP with a Status 400 that repeats none of them', async () => {
    const answer = await send(await listening(), 'secret nonsense\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1.1 400 /);
    expect(answer).not.to.contain('secret');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({
      kind: 'Status',
      reason: 'BadRequest',
      message: 'the request is not well-formed HTTP/1.1',
    });
  });

  it('answers an address with bare letters outside ASCII with a Status 400 that names the cure', async () => {
    const answer = await send(
      await listening(),
      'GET /kapis/logs?log_query=größer HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    expect(answer).to.match(/^HTTP\/1.1 400 /);
    const status: unknown = JSON.parse(answer.split('\r\n\r\n')[1] ?? '');
    expect(status)
      .to.have.property('message')
      .that.matches(/has to be escaped, as %C3%BC for ü$/);
  });

  it('hands on a request with an expectation that nobody knows, or without a Host', async () => {
    const listener = await listening();
    for (const header of ['Host: x\r\nExpect: wonders', 'X-No-Host: x']) {
      const answer = await send(listener, `GET /livez HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`);
      expect(answer, header).to.match(/^HTTP\/1.1 200 /);
    }
  });

  it('answers CONNECT rather than cutting the connection', async () => {
    const receiver: Partial<RequestReceiver> = { request: () => undefined, upgrade: () => undefined };
    const listener = await listening({ receiver });
    const answer = await send(listener, 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1.1 404 /);
  });

  it('does not mix a 400 into an answer that is under way', async () => {
    const receiver: Partial<RequestReceiver> = {
      request: (_request, response) => {
        response.writeHead(200, { 'Content-Length': 10 });
        response.write('half ');
      },
    };
    const listener = await listening({ receiver });
    const socket = await open(listener);
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.write('nonsense\r\n\r\n');
    expect(await readAll(socket)).to.equal('');
  });

  it('answers 408 when the headers do not come in time', async () => {
    const listener = await listening({ limits: { headersTimeout: 100, requestTimeout: 100 } });
    const answer = await send(listener, 'GET /livez HTTP/1.1\r\nX-Slow: ');
    expect(answer).to.match(/^HTTP\/1.1 408 /);
    const { kind, reason, code } = JSON.parse(answer.split('\r\n\r\n')[1] ?? '') as Record<string, unknown>;
    expect({ kind, reason, code }).to.deep.equal({ kind: 'Status', reason: 'Timeout', code: 408 });
  });

  it('ends a connection on which nothing is ever sent', async () => {
    const listener = await listening({ limits: { headersTimeout: 100, requestTimeout: 100 } });
    const socket = await open(listener);
    expect(await readAll(socket)).to.match(/^HTTP\/1.1 408 |^$/);
  });

  it('closes connections beyond the limit at once', async () => {
    const listener = await listening({ limits: { connections: 1 } });
    const first = await open(listener);
    first.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(first, 'data');
    const second = await open(listener);
    expect(await readAll(second)).to.equal('');
    first.destroy();
  });

  it('takes a request that offers h2c, as clients in Java do, for an ordinary one', async () => {
    const upgrades: unknown[] = [];
    const listener = await listening({
      receiver: {
        request: (_request, response) => response.end('ordinary'),
        upgrade: (request, socket) => {
          upgrades.push(request.headers.upgrade);
          socket.end();
        },
      },
    });
    const head = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n';
    const socket = await open(listener);
    socket.write(`${head}Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).to.contain('ordinary');
    socket.destroy();
    await send(listener, `${head}Upgrade: websocket\r\n\r\n`);
    expect(upgrades).to.deep.equal(['websocket']);
  });

  it('keeps an idle connection longer than the 90 s of Go clients', async () => {
    const socket = await open(await listening());
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).to.match(/Keep-Alive: timeout=95/i);
    socket.destroy();
  });
});
