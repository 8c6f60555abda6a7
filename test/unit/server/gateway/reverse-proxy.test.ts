// Tests of ordinary requests through the gateway, with a scripted kube-apiserver.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { expect } from 'chai';
import {
  ForwardingServer,
  type ForwardingServerOptions,
  readAll,
  readUntil,
} from '../../../support/gateway/forwarding-server.ts';
import { ScriptedUpstream } from '../../../support/gateway/scripted-upstream.ts';
import { listenOnLoopback } from '../../../support/loopback.ts';
import { until, untilSteady } from '../../../support/until.ts';

const PODS = '/api/v1/namespaces/shop/pods';
const CONSOLE = 'https://console.example.com';
const PROXY = '/api/v1/namespaces/shop/services/cart:80/proxy';

describe('a forwarded request', () => {
  let upstream: ScriptedUpstream;
  let server: ForwardingServer;
  let now = 0;

  beforeEach(async () => {
    upstream = await ScriptedUpstream.start();
    await start();
  });
  afterEach(async () => {
    await server.stop();
    await upstream.stop();
  });

  async function start(options: Partial<ForwardingServerOptions> = {}): Promise<void> {
    server = await ForwardingServer.start({ cluster: () => upstream, now: () => now, ...options });
  }

  async function restart(options: Partial<ForwardingServerOptions>): Promise<void> {
    await server.stop();
    await start(options);
  }

  it('keeps its body apart from the next request, for every method', async () => {
    const bodies: string[] = [];
    upstream.respond = (request, response) => {
      void bodyOf(request).then((body) => {
        bodies.push(`${request.method} ${request.url} ${body}`);
        response.end('ok');
      });
    };
    const inner = 'GET /api/v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
    for (const method of ['GET', 'DELETE', 'POST']) {
      const chunked = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
      await server.exchange([`${method} ${PODS} HTTP/1.1`, 'Transfer-Encoding: chunked'], chunked);
      const sized = ['Connection: Content-Length', `Content-Length: ${inner.length}`];
      await server.exchange([`${method} ${PODS} HTTP/1.1`, ...sized], inner);
    }
    const expected = ['GET', 'DELETE', 'POST'].map((method) => `${method} ${PODS} ${inner}`);
    expect(bodies).to.deep.equal(expected.flatMap((body) => [body, body]));
  });

  it('keeps the bytes of its headers when its body is late', async () => {
    const name = 'j\xc3\xbcrgen \xff';
    const socket = await server.send([
      `POST ${PROXY} HTTP/1.1`,
      `Impersonate-User: ${name}`,
      `X-Name: ${name}`,
      'Content-Length: 4',
      'Connection: close',
    ]);
    // kube-apiserver gets the headers with the first byte of the body.
    socket.write('b');
    await until(() => upstream.received.length === 1);
    const [received] = upstream.received;
    socket.write('ody');
    expect(await readAll(socket)).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received?.headers).to.include({ 'impersonate-user': name, 'x-name': name });
  });

  for (const length of [{}, { 'Content-Length': 4 }]) {
    const how = 'Content-Length' in length ? 'with a length' : 'in chunks';
    it(`keeps the bytes of the response’s headers when its body is late, ${how}`, async () => {
      const ended = Promise.withResolvers<ServerResponse>();
      upstream.respond = (_request, response) => {
        response.writeHead(200, { Warning: '299 - "\xc3\xbc \xff"', ...length });
        response.write('', 'latin1');
        ended.resolve(response);
      };
      const socket = await server.send([`GET ${PODS} HTTP/1.1`, 'Connection: close']);
      const head = await readUntil(socket, '\r\n\r\n');
      expect(head).to.contain('Warning: 299 - "\xc3\xbc \xff"\r\n');
      (await ended.promise).end('body');
      expect(await readAll(socket)).to.contain('body');
    });
  }

  it('keeps the bytes of Content-Disposition, in any order with Content-Length', async () => {
    const disposition = 'Content-Disposition: attachment; filename="\xc3\xbc \xff"\r\n';
    for (const headers of [`Content-Length: 2\r\n${disposition}`, `${disposition}Content-Length: 2\r\n`]) {
      upstream.respond = ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\nok`, 'latin1');
      const response = await server.exchange([`GET ${PODS} HTTP/1.1`]);
      expect(response).to.contain(disposition).and.to.contain('Content-Length: 2\r\n');
      expect(response).to.match(/\r\n\r\nok$/);
      const sized = headers.trimEnd().split('\r\n');
      await server.exchange([`POST ${PODS} HTTP/1.1`, ...sized], 'ok');
      expect(upstream.received.at(-1)?.headers['content-disposition']).to.contain('\xc3\xbc \xff');
    }
  });

  it('adds the CORS headers, and keeps both values of Vary', async () => {
    await restart({ allowedOrigins: [CONSOLE] });
    upstream.respond = (_request, response) => response.writeHead(200, { Vary: 'Accept' }).end('{}');
    const response = await server.exchange(['GET /apis HTTP/1.1', `Origin: ${CONSOLE}`]);
    expect(response).to.match(/^Access-Control-Allow-Origin: https:\/\/console\.example\.com\r$/im);
    expect(response).to.match(/^Access-Control-Expose-Headers: .*\bWarning\b/im);
    expect([...response.matchAll(/^Vary: (.*)\r$/gm)].map(([, value]) => value)).to.deep.equal([
      'Accept',
      'Origin',
    ]);
  });

  it('serves clients of HTTP/1.0 without chunks', async () => {
    upstream.respond = (_request, response) => {
      response.write('one ');
      response.end('two');
    };
    const response = await readAll(await server.send([`GET ${PODS} HTTP/1.0`]));
    expect(response)
      .to.match(/^HTTP\/1\.1 200 OK\r\n/)
      .and.match(/\r\n\r\none two$/);
    expect(response).to.not.match(/transfer-encoding/i);
  });

  it('keeps a path below services/proxy as it is', async () => {
    const path = `${PROXY}//a%2Fb/../c%252F/./%2e%2e//?q=%2F&&x`;
    expect(await server.exchange([`GET ${path} HTTP/1.1`])).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(upstream.received[0]?.url).to.equal(path);
  });

  it('does not forward an upgrade to h2c', async () => {
    const response = await server.exchange([
      `GET ${PODS} HTTP/1.1`,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ]);
    expect(response)
      .to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
      .and.contain('cannot switch to \\"h2c\\"');
    expect(upstream.received).to.have.length(0);
  });

  it('does not forward an upgrade to any other protocol', async () => {
    for (const protocol of ['tcp', 'SPDY/2', 'websocket, h2c', 'TLS/1.0', '']) {
      const lines = [`GET ${PODS} HTTP/1.1`, 'Connection: keep-alive, Upgrade', `Upgrade: ${protocol}`];
      expect(await server.exchange(lines), protocol).to.match(/^HTTP\/1\.1 400 /);
    }
    expect(upstream.received).to.have.length(0);
    // The header Upgrade has no effect unless Connection names it (RFC 9110, 7.8).
    expect(await server.exchange([`GET ${PODS} HTTP/1.1`, 'Upgrade: tcp'])).to.match(/^HTTP\/1\.1 200 /);
    expect(upstream.received[0]?.headers).to.not.have.property('upgrade');
  });

  it('breaks the connection of the client if kube-apiserver breaks its own in the middle of a body', async () => {
    for (const headers of [{}, { 'Content-Length': 100 }]) {
      upstream.respond = (request, response) => {
        response.writeHead(200, headers);
        response.write('half', () => request.socket.destroy());
      };
      const response = await readAll(await server.send([`GET ${PODS} HTTP/1.1`]));
      expect(response)
        .to.match(/^HTTP\/1\.1 200 OK\r\n/)
        .and.to.include('half');
      expect(response).to.not.include('\r\n0\r\n');
    }
  });

  it('is repeated on a stale connection only if it is a GET', async () => {
    /** Leaves an idle connection that kube-apiserver closes at the next request. */
    const makeStale = async (): Promise<void> => {
      upstream.respond = (_request, response) => void response.end('first');
      await server.exchange([`GET ${PODS} HTTP/1.1`]);
      const [stale] = upstream.connections;
      upstream.respond = (request, response) => {
        if (request.socket === stale) request.socket.destroy();
        else response.end('second');
      };
      upstream.received.length = 0;
    };
    await makeStale();
    expect(await server.exchange([`GET ${PODS} HTTP/1.1`])).to.match(/second$/);
    expect(upstream.received).to.have.length(2);
    for (const lines of [[`DELETE ${PODS}/a HTTP/1.1`], [`POST ${PODS} HTTP/1.1`, 'Content-Length: 2']]) {
      await makeStale();
      const response = await server.exchange(lines, lines.length > 1 ? '{}' : '');
      expect(response)
        .to.match(/^HTTP\/1\.1 502 /)
        .and.to.include('may have been processed');
      expect(response).to.not.match(/retry-after/i);
      expect(upstream.received).to.have.length(1);
    }
  });

  it('has no deadline and no body limit as a stream or a proxy request', async () => {
    let time = 0;
    await restart({ limits: { timeoutMs: 100, maxBodyBytes: 10 }, monotonic: () => time });
    const body = 'x'.repeat(1000);
    const length = `Content-Length: ${body.length}`;
    const held = Promise.withResolvers<void>();
    upstream.respond = (request, response) => {
      void Promise.all([bodyOf(request), held.promise]).then(([received]) =>
        response.end(`late ${received}`),
      );
    };
    const upload = server.exchange([`POST ${PROXY}/upload HTTP/1.1`, length], body);
    const watch = server.exchange([`GET ${PODS}?watch=1 HTTP/1.1`]);
    const list = server.exchange([`GET ${PODS} HTTP/1.1`]);
    await until(() => upstream.received.length === 3);
    time = 100;
    expect(await list).to.match(/^HTTP\/1\.1 504 /);
    expect(await server.exchange([`POST ${PODS} HTTP/1.1`, length], body)).to.match(/^HTTP\/1\.1 413 /);
    const chunk = `5\r\n${'x'.repeat(5)}\r\n`;
    for (const method of ['GET', 'POST', 'DELETE']) {
      const chunked = [`${method} ${PODS} HTTP/1.1`, 'Transfer-Encoding: chunked'];
      const refused = await server.exchange(chunked, `${chunk.repeat(3)}0\r\n\r\n`);
      expect(refused).to.match(/^HTTP\/1\.1 413 .*limit is 10"/s);
    }
    held.resolve();
    expect(await upload).to.include(`late ${body}`);
    expect(await watch).to.match(/late $/);
  });

  it('continues while certificate and address of kube-apiserver rotate', async () => {
    const get = (): Promise<string> => server.exchange([`GET ${PODS} HTTP/1.1`]);
    await get();
    await upstream.renewCertificate();
    for (const connection of upstream.connections) connection.destroy();
    await until(() => upstream.connections.size === 0);
    expect(await get()).to.match(/^HTTP\/1\.1 200 OK\r\n/);

    const old = upstream;
    // Another address and another CA, which the next read of the kubeconfig finds.
    upstream = await ScriptedUpstream.start();
    upstream.respond = (_request, response) => void response.end('at the new address');
    expect(await get()).to.match(/ok$/);
    now += 60_000;
    expect(await get()).to.match(/at the new address$/);
    await old.stop();
    expect(await get()).to.match(/at the new address$/);
  });

  it('reads the kubeconfig again, at most once per second, after kube-apiserver was unreachable', async () => {
    let reads = 0;
    await restart({
      cluster: () => {
        reads++;
        return upstream;
      },
    });
    const statuses = async (requests: number): Promise<string[]> => {
      const all: string[] = [];
      for (let sent = 0; sent < requests; sent++) {
        all.push((await server.exchange([`GET ${PODS} HTTP/1.1`])).slice(9, 12));
      }
      return all;
    };
    expect(await statuses(1)).to.deep.equal(['200']);
    await upstream.stop();
    now += 1_000;
    expect(await statuses(3)).to.deep.equal(['503', '503', '503']);
    expect(reads).to.equal(2);
    upstream = await ScriptedUpstream.start();
    now += 1_000;
    expect(await statuses(2)).to.deep.equal(['503', '200']);
    expect(reads).to.equal(3);
  });

  it('gets 503 with Retry-After if the TLS handshake does not complete', async () => {
    const silent = createServer();
    const port = await listenOnLoopback(silent);
    const accepted = once(silent, 'connection');
    const other = await ForwardingServer.start({
      cluster: () => ({ url: `https://127.0.0.1:${port}`, ca: upstream.ca }),
      connectTimeoutMs: 50,
    });
    try {
      const response = await other.exchange([`GET ${PODS} HTTP/1.1`]);
      expect(response)
        .to.match(/^HTTP\/1\.1 503 /)
        .and.match(/\r\nRetry-After: 1\r\n/);
      await accepted;
    } finally {
      await other.stop();
      silent.close();
    }
  });

  it('gets 502 without Retry-After if kube-apiserver closes the connection or responds with garbage', async () => {
    for (const bytes of ['', 'no HTTP\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n']) {
      upstream.respond = ({ socket }) => void (bytes === '' ? socket.destroy() : socket.end(bytes));
      const response = await server.exchange([`GET ${PODS} HTTP/1.1`]);
      expect(response)
        .to.match(/^HTTP\/1\.1 502 /)
        .and.to.include('may have been processed');
      expect(response).to.not.match(/retry-after/i);
    }
  });

  for (const headers of ['', 'Connection: Upgrade\r\n', 'Connection: Upgrade\r\nUpgrade: h2c\r\n']) {
    it(`gets 502 if kube-apiserver switches the protocol, and leaves no connection to the next request: ${JSON.stringify(headers)}`, async () => {
      upstream.respond = ({ socket }) =>
        void socket.write(
          `HTTP/1.1 101 Switching Protocols\r\n${headers}\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
        );
      const response = await server.exchange([`GET ${PROXY} HTTP/1.1`]);
      expect(response).to.match(/^HTTP\/1\.1 502 /);
      upstream.respond = (_request, next) => void next.end('other');
      expect(await server.exchange([`GET ${PODS} HTTP/1.1`])).to.match(/other$/);
      expect(upstream.accepted).to.equal(2);
      expect(upstream.received).to.have.length(2);
    });
  }

  it('gets 502 after a 100 Continue that it does not expect, and the response after other 1xx', async () => {
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    for (const [code, expected] of [
      [100, 502],
      [102, 200],
      [103, 200],
    ] as const) {
      upstream.respond = ({ socket }) => void socket.write(`HTTP/1.1 ${code} Info\r\n\r\n${ok}`);
      const response = await server.exchange([`GET ${PROXY} HTTP/1.1`]);
      expect(response.slice(0, 12)).to.equal(`HTTP/1.1 ${expected}`);
    }
  });

  it('delivers an early response while the client still sends the body', async () => {
    const refusal = 'too large '.repeat(20_000);
    // Like kube-apiserver, reads on after the response: a reset because of unread input could overtake it.
    upstream.respond = (request) => {
      const head = `HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: ${refusal.length}\r\n\r\n`;
      request.resume().socket.write(head + refusal);
    };
    const client = await server.send([`POST ${PROXY}/upload HTTP/1.1`, 'Content-Length: 100000000'], 'x');
    const sending = setInterval(() => client.write('x'.repeat(10_000)), 5);
    client.on('error', () => clearInterval(sending));
    const response = await readUntil(client, refusal);
    clearInterval(sending);
    expect(response).to.match(/^HTTP\/1\.1 413 /);
    expect(response).to.match(/\r\nConnection: close\r\n/);
    client.destroy();
    await until(() => upstream.connections.size === 0);
  });

  it('is released if the client disconnects while the gateway looks for the cause of a 401', async () => {
    const looking = Promise.withResolvers<void>();
    const cause = Promise.withResolvers<undefined>();
    await restart({
      rejection: () => {
        looking.resolve();
        return cause.promise;
      },
    });
    upstream.respond = (_request, response) => response.writeHead(401).end('{}');
    const client = await server.send([`GET ${PODS} HTTP/1.1`]);
    await looking.promise;
    client.destroy();
    await until(() => server.chain.open === 0);
    cause.resolve(undefined);
    await until(() => server.pools.gateway.held === 0);
  });

  it('delivers a body of several chunks that arrives with its headers', async () => {
    const head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
    upstream.respond = ({ socket }) => void socket.write(`${head}\r\n\r\n4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n`);
    for (const lines of [[`GET ${PODS} HTTP/1.1`], [`POST ${PODS} HTTP/1.1`, 'Content-Length: 2']]) {
      const response = await server.exchange(lines, lines.length > 1 ? '{}' : '');
      expect(response).to.match(/\r\n\r\n7\r\n\{"a":1\}\r\n0\r\n\r\n$/);
    }
  });

  it('holds little of a response that the client does not read', async () => {
    const chunk = Buffer.alloc(1 << 20);
    let sent = 0;
    upstream.respond = (_request, response) => {
      const write = (): void => {
        while (response.write(chunk)) sent++;
        response.once('drain', () => {
          sent++;
          write();
        });
      };
      write();
    };
    const client = await server.send([`GET ${PODS}?watch=1 HTTP/1.1`]);
    client.pause();
    await until(() => sent > 0);
    await untilSteady(() => sent);
    expect(sent).to.be.lessThan(32);
    client.destroy();
    await until(() => upstream.connections.size === 0);
  });

  it('ends at the deadline if the client does not read the response', async () => {
    await restart({ limits: { timeoutMs: 200 } });
    upstream.respond = (_request, response) => {
      const write = (): void => void response.write(Buffer.alloc(1 << 20), (error) => error ?? write());
      write();
    };
    const client = await server.send([`GET ${PODS} HTTP/1.1`]);
    client.pause();
    await until(() => upstream.received.length === 1);
    await until(() => upstream.connections.size === 0 && server.connections === 0);
    await until(() => server.pools.gateway.held === 0);
    expect(await readAll(client)).to.match(/^HTTP\/1\.1 200 /);
  });

  it('holds its seat while its body is incomplete, because kube-apiserver can work without its end', async () => {
    let time = 0;
    await restart({ monotonic: () => time });
    upstream.respond = ({ url }, response) => {
      if (url === '/version') response.end(Buffer.alloc(32 << 20));
    };
    const incomplete = ['GET', 'HEAD', 'POST', 'DELETE'].flatMap((method) => [
      [`${method} ${PODS} HTTP/1.1`, 'Content-Length: 40'],
      [`${method} ${PODS} HTTP/1.1`, 'Transfer-Encoding: chunked'],
    ]);
    const clients = await Promise.all(incomplete.map((lines) => server.send(lines, '1\r\nx\r\n')));
    await until(() => upstream.received.length === clients.length);
    // This client does not read its response.
    const unread = await server.send(['GET /version HTTP/1.1']);
    unread.pause();
    const moving = setInterval(() => {
      time += 500;
    }, 100);
    await until(() => server.pools.stalled.held > 0);
    clearInterval(moving);
    expect([server.pools.gateway.held, server.pools.stalled.held]).to.deep.equal([clients.length, 1]);
    for (const client of [unread, ...clients]) client.destroy();
    await until(() => server.pools.gateway.held + server.pools.stalled.held === 0);
  });

  it('gets 408 if it arrives byte by byte beyond the limit', async () => {
    await restart({ listenerLimits: { headersTimeout: 2_000, requestTimeout: 2_000 } });
    upstream.respond = ({ headers }, response) => {
      if (headers['content-length'] === undefined) response.end('complete');
    };
    const starts = [
      `GET ${PODS} HTTP/1.1\r\nHost: gateway\r\nX-Slow: `,
      ...[PODS, `${PROXY}/upload`].map(
        (path) => `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n`,
      ),
    ];
    const responses = starts.map(async (start) => {
      const client = await server.open();
      client.write(start);
      const writing = setInterval(() => client.write('x'), 20);
      return readAll(client).finally(() => clearInterval(writing));
    });
    await until(
      () =>
        upstream.received.length === 2 && server.pools.gateway.held + server.pools.gatewayStreams.held === 2,
    );
    for (const response of await Promise.all(responses)) expect(response).to.match(/^HTTP\/1\.1 408 /);
    await until(() => upstream.connections.size === 0 && server.connections === 0);
    await until(() => server.pools.gateway.held + server.pools.gatewayStreams.held === 0);
  });

  it('completes while the server stops; streams end, and new ones get 503', async () => {
    const held = Promise.withResolvers<void>();
    upstream.respond = (request, response) => {
      response.writeHead(200).flushHeaders();
      if (!request.url?.includes('watch')) void held.promise.then(() => response.end('complete'));
    };
    const ordinary = await server.send([`GET ${PODS} HTTP/1.1`, 'Connection: close']);
    const watch = await server.send([`GET ${PODS}?watch=1 HTTP/1.1`]);
    await readUntil(watch, '\r\n\r\n');
    await until(() => upstream.received.length === 2);
    expect(server.chain.drain()).to.equal(1);
    expect(await readAll(watch)).to.not.include('\r\n0\r\n');
    expect(await server.exchange([`GET ${PODS}?watch=1 HTTP/1.1`])).to.match(/^HTTP\/1\.1 503 /);
    held.resolve();
    expect(await readAll(ordinary)).to.include('complete');
  });

  it('ends cleanly between two events while the server stops, if it is a watch', async () => {
    for (const [events, isClean] of [
      ['', true],
      ['{"type":"ADDED"}\n', true],
      ['{"type":"ADDED"}\n{"type":', false],
    ] as const) {
      await restart({});
      upstream.respond = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders();
        if (events !== '') response.write(events);
      };
      const watch = await server.send([`GET ${PODS}?watch=1 HTTP/1.1`, 'Connection: close']);
      await readUntil(watch, events === '' ? '\r\n\r\n' : events);
      server.chain.drain();
      expect((await readAll(watch)).endsWith('0\r\n\r\n'), events).to.equal(isClean);
    }
  });
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
