// Tests of the plain-HTTP listener.
import { once } from 'node:events';
import { expect } from 'chai';
import { closeGracefully } from '../../../../server/http/graceful-close.ts';
import { isServedInsecurely } from '../../../../server/listener/insecure-listener.ts';
import type { Listener, RequestReceiver } from '../../../../server/listener/listener.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

describe('the plain-HTTP listener', () => {
  stopListenersEach();

  async function send(listener: Listener, bytes: string): Promise<string> {
    const socket = await open(listener);
    socket.write(bytes);
    return readAll(socket);
  }

  it('serves requests of any shape, with the idle timeout of 95 s, above the 90 s of Go clients', async () => {
    const listener = await listenInsecure();
    for (const request of [
      'GET /readyz?verbose HTTP/1.1\r\nHost: x\r\nExpect: wonders',
      'GET /livez HTTP/1.1\r\nX-No-Host: x',
    ]) {
      const socket = await open(listener);
      socket.write(`${request}\r\n\r\n`);
      const [answer] = await once(socket, 'data');
      expect(String(answer)).to.match(/^HTTP\/1.1 200 [^]*Keep-Alive: timeout=95/i);
      socket.destroy();
    }
  });

  for (const [what, bytes, code, message] of [
    ['an aggregated path', 'GET /apis HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404, /./],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', 404, /./],
    ['a request line without an HTTP version', 'GET /livez\r\n\r\n', 400, /./],
    ['input that is not HTTP', 'secret nonsense\r\n\r\n', 400, /^the request is not well-formed HTTP\/1.1$/],
    [
      'a request target outside ASCII, with the cure',
      'GET /kapis/logs?log_query=größer HTTP/1.1\r\nHost: x\r\n\r\n',
      400,
      /must be percent-encoded, as %C3%BC for ü$/,
    ],
    [
      'headers beyond the size limit',
      `GET /livez HTTP/1.1\r\nHost: x\r\nX-Filler: ${'x'.repeat(100_000)}\r\n\r\n`,
      431,
      /./,
    ],
  ] as const) {
    it(`returns a ${code} Status for ${what}`, async () => {
      const answer = await send(await listenInsecure({ limits: { headers: 8192 } }), bytes);
      expect(answer)
        .to.match(new RegExp(`^HTTP/1.1 ${code} `))
        .and.not.contain('secret');
      const status: unknown = JSON.parse(answer.split('\r\n\r\n')[1] ?? '');
      expect(status)
        .to.include({ kind: 'Status', code })
        .and.to.have.property('message')
        .that.matches(message);
    });
  }

  it('rejects chunked encoding in HTTP/1.0, and parses no request behind it', async () => {
    const paths: string[] = [];
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        paths.push(request.url ?? '');
        response.end('taken');
      },
    };
    const listener = await listenInsecure({ receiver });
    const chunked = 'Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    const answer = await send(listener, `POST /livez HTTP/1.0\r\n${chunked}GET /oauth/next HTTP/1.0\r\n\r\n`);
    expect(answer)
      .to.match(/^HTTP\/1.1 400 [^]*Connection: close/)
      .and.not.include('taken');
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ kind: 'Status', code: 400 });
    expect(paths).to.deep.equal([]);
  });

  for (const [what, first, expected] of [
    ['request', 'GET /livez HTTP/1.1\r\nHost: x\r\n', /taken$/],
    ['tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n', /^HTTP\/1.1 404 /],
    ['upgrade', 'GET /livez HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n', /taken$/],
  ] as const) {
    it(`accepts 5,000 headers of a ${what}, and returns a 431 Status for more`, async () => {
      const receiver: Partial<RequestReceiver> = {
        request: (_, response) => response.end('taken'),
        upgrade: (_, socket) => closeGracefully(socket, 'taken'),
      };
      const listener = await listenInsecure({ receiver });
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

  it('accepts 200 KiB of headers for hundreds of groups, without losing one', async () => {
    let groups = 0;
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        groups = request.headersDistinct['x-remote-group']?.length ?? 0;
        response.end();
      },
    };
    const listener = await listenInsecure({ receiver });
    const headers = Array.from(
      { length: 3000 },
      (_, index) => `X-Remote-Group: ${'g'.repeat(40)}-${index}\r\n`,
    );
    await send(listener, `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join('')}\r\n`);
    expect(groups).to.equal(3000);
  });

  it('does not mix a 400 into a response in progress', async () => {
    const receiver: Partial<RequestReceiver> = {
      request: (_request, response) => {
        response.writeHead(200, { 'Content-Length': 10 });
        response.write('half ');
      },
    };
    const listener = await listenInsecure({ receiver });
    const socket = await open(listener);
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.write('nonsense\r\n\r\n');
    expect(await readAll(socket)).to.equal('');
  });

  it('sends the whole response to a request with Connection: close, and serves no request behind it', async () => {
    const paths: string[] = [];
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        paths.push(request.url ?? '');
        // More than the kernel buffers, so that the bytes behind the request arrive before the response is sent.
        response.end('x'.repeat(32 << 20));
      },
    };
    const listener = await listenInsecure({ receiver });
    const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const answer = await send(listener, `${last}GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer.split('\r\n\r\n')[1]?.length).to.equal(32 << 20);
    expect(paths).to.deep.equal(['/livez']);
  });

  it('returns 408 when the headers do not arrive in time', async () => {
    const listener = await listenInsecure({ limits: { headersTimeout: 100, requestTimeout: 100 } });
    const answer = await send(listener, 'GET /livez HTTP/1.1\r\nX-Slow: ');
    expect(answer).to.match(/^HTTP\/1.1 408 /);
    const { kind, reason, code } = JSON.parse(answer.split('\r\n\r\n')[1] ?? '') as Record<string, unknown>;
    expect({ kind, reason, code }).to.deep.equal({ kind: 'Status', reason: 'Timeout', code: 408 });
    expect(await send(listener, '')).to.match(/^HTTP\/1.1 408 |^$/);
  });

  it('closes connections beyond the limit on arrival', async () => {
    const listener = await listenInsecure({ limits: { connections: 1 } });
    const first = await open(listener);
    first.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(first, 'data');
    const second = await open(listener);
    expect(await readAll(second)).to.equal('');
    first.destroy();
  });

  it('treats an offer of h2c, as of Java clients, and an upgrade of HTTP/1.0 as an ordinary request', async () => {
    const upgrades: unknown[] = [];
    const listener = await listenInsecure({
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
    const old = head.replace('HTTP/1.1', 'HTTP/1.0');
    expect(await send(listener, `${old}Upgrade: websocket\r\n\r\n`)).to.match(/ordinary$/);
    await send(listener, `${head}Upgrade: websocket\r\n\r\n`);
    expect(upgrades).to.deep.equal(['websocket']);
  });
});

describe('isServedInsecurely', () => {
  it('serves health, OAuth and platform paths and the version, and nothing else', () => {
    const served = [
      '/',
      '/account?user=a',
      '/oauth',
      '/oauth/token',
      '/kapis/a/b?x=/../',
      '/livez',
      '/readyz/ping',
      '/version',
    ];
    for (const target of served) expect(isServedInsecurely(target), target).to.equal(true);
    const other = ['//', '/apis', '/api/v1/nodes', '/metrics', '/oauthx', '/OAuth', 'http://host/oauth', '*'];
    const dots = ['//oauth', '/kapis/../apis', '/kapis/%2e%2E/apis', '/kapis/.%2e/apis', '/kapis/..\\apis'];
    for (const target of [...other, ...dots, '']) expect(isServedInsecurely(target), target).to.equal(false);
  });
});
