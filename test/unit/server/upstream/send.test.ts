// Tests of the HTTP client.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, createServer as createTCPServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { ConnectionPool, type PoolOptions } from '../../../../server/upstream/connection-pool.ts';
import { abortableBy, send, type UpstreamRequest } from '../../../../server/upstream/send.ts';
import type { UpstreamResponse } from '../../../../server/upstream/upstream-response.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';

describe('send', () => {
  const ending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  function pool(port: number, options: Partial<PoolOptions> = {}, scheme = 'http'): ConnectionPool {
    const made = new ConnectionPool({ url: new URL(`${scheme}://127.0.0.1:${port}`), ...options });
    ending.push(() => made.retire());
    return made;
  }

  async function listening(server: Server): Promise<number> {
    ending.push(() => closeNow(server));
    return listenOnLoopback(server);
  }

  const request = (fields: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
    method: 'GET',
    path: '/',
    headers: [],
    isRead: true,
    crowd: '',
    work: abortableBy(new AbortController().signal),
    ...fields,
  });

  const bodyOf = async (response: UpstreamResponse): Promise<string> =>
    String(await response.bytes({ maxBytes: 1000, tooLong: () => new Error('too long') }));

  /** A server of bytes: each connection gets its number and the number of its request, and responds as `answer` says. */
  async function scripted(answer: (socket: Socket, at: number, request: string) => void): Promise<number> {
    const connections = new Set<Socket>();
    const server = createTCPServer((socket) => {
      connections.add(socket);
      const at = connections.size;
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => answer(socket, at, bytes.toString('latin1')));
    });
    ending.push(() => {
      for (const socket of connections) socket.destroy();
      server.close();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

  it('keeps the bytes of headers in both directions', async () => {
    let seen = '';
    const port = await scripted((socket, _at, text) => {
      seen = text;
      socket.write(`HTTP/1.1 200 OK\r\nX-Name: j\xfcrgen\r\nContent-Length: 2\r\n\r\nok`, 'latin1');
    });
    const response = await send(
      pool(port),
      request({ headers: ['X-User', 'j\xfcrgen', 'x-USER', '\xc3\xa9'] }),
    );
    expect(seen).to.contain('X-User: j\xfcrgen\r\nx-USER: \xc3\xa9\r\n');
    expect(response.rawHeaders).to.include.ordered.members(['X-Name', 'j\xfcrgen']);
    expect(await bodyOf(response)).to.equal('ok');
  });

  it('repeats a read on a new connection, although more idle connections are stale, and no write', async () => {
    const held: Socket[] = [];
    let sent = 0;
    const port = await scripted((socket, at) => {
      sent++;
      // Each connection responds once, the first two together.
      if (held.includes(socket)) {
        socket.destroy();
        return;
      }
      held.push(socket);
      if (at > 2) socket.write(OK);
      else if (at === 2) for (const one of held) one.write(OK);
    });
    const connections = pool(port);
    const both = await Promise.all([send(connections, request()), send(connections, request())]);
    await Promise.all(both.map(bodyOf));
    expect(await bodyOf(await send(connections, request()))).to.equal('ok');
    expect(sent).to.equal(4);
    const failed = await rejection(send(connections, request({ method: 'POST', body: 'x', isRead: false })));
    expect(failed).to.be.instanceOf(Error);
    expect(sent).to.equal(5);
  });

  it('repeats no read whose response has begun', async () => {
    let sent = 0;
    const port = await scripted((socket) => {
      if (++sent === 1) socket.write(OK);
      else socket.end('HTTP/1.1 2');
    });
    const connections = pool(port);
    await bodyOf(await send(connections, request()));
    expect(await rejection(send(connections, request()))).to.be.instanceOf(Error);
    expect(sent).to.equal(2);
  });

  it('says whether the request was sent', async () => {
    const seen: boolean[] = [];
    const errorOf = (cause: Error, isSent: boolean): Error => {
      seen.push(isSent);
      return cause;
    };
    const closing = await scripted((socket) => socket.destroy());
    await rejection(send(pool(closing), request({ errorOf })));
    await rejection(send(pool(1), request({ errorOf })));
    expect(seen).to.deep.equal([true, false]);
  });

  it('abandons a connection that is being opened, when its request is aborted or late', async () => {
    const accepted: Socket[] = [];
    const server = createTCPServer((socket) => accepted.push(socket.on('error', () => undefined).resume()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ending.push(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const connections = pool(port, {}, 'https');
    const stop = new AbortController();
    const aborted = rejection(send(connections, request({ work: abortableBy(stop.signal) })));
    await until(() => accepted.length === 1);
    stop.abort(new Error('enough'));
    expect(await aborted).to.have.property('message', 'enough');
    expect(await rejection(send(connections, request({ connectMs: 20 })))).to.match(
      /no connection within 20 ms/,
    );
    await until(() => accepted.length > 1 && accepted.every(({ closed }) => closed));
  });

  it('ends a response that is being read with the reason of the abort, and closes its connection', async () => {
    const served = Promise.withResolvers<Socket>();
    const port = await scripted((socket) => {
      served.resolve(socket);
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n');
    });
    const stop = new AbortController();
    const response = await send(pool(port), request({ work: abortableBy(stop.signal) }));
    const reading = rejection(bodyOf(response));
    stop.abort(new Error('enough'));
    expect(await reading).to.have.property('message', 'enough');
    await once(await served.promise, 'close');
  });

  it('reads no more of a response than its reader takes', async () => {
    let written = 0;
    const server = createServer((_request, response) => {
      const chunk = Buffer.alloc(1 << 16);
      const more = (): void => {
        while (written < 64 << 20 && response.write(chunk)) written += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    const response = await send(pool(await listening(server)), request());
    let before = -1;
    await until(() => {
      const isSteady = written === before;
      before = written;
      return isSteady;
    });
    expect(written).to.be.below(32 << 20);
    response.destroy();
  });

  it('rejects a body over the limit, also if it is complete', async () => {
    const port = await scripted((socket) => socket.write(OK));
    const response = await send(pool(port), request());
    expect(
      await rejection(response.bytes({ maxBytes: 1, tooLong: () => new Error('too long') })),
    ).to.have.property('message', 'too long');
  });

  it('verifies the name of the option servername, and sends it as SNI', async () => {
    const ca = await newCA('cluster');
    const { cert, key } = await issueServer(ca);
    const names: unknown[] = [];
    const server = createSecureServer({ cert, key }, ({ socket }, response) => {
      names.push('servername' in socket ? socket.servername : undefined);
      response.end('ok');
    });
    const port = await listening(server);
    const named = pool(port, { tls: { ca: ca.cert, servername: 'localhost' } }, 'https');
    expect(await bodyOf(await send(named, request()))).to.equal('ok');
    expect(names).to.deep.equal(['localhost']);
    const other = pool(port, { tls: { ca: ca.cert, servername: 'other.example' } }, 'https');
    expect(await rejection(send(other, request()))).to.have.property('code', 'ERR_TLS_CERT_ALTNAME_INVALID');
  });

  for (const scheme of ['http', 'https']) {
    it(`connects to ${scheme} through an HTTP proxy, with its credentials`, async () => {
      const ca = await newCA('cluster');
      const { cert, key } = await issueServer(ca);
      const server =
        scheme === 'https'
          ? createSecureServer({ cert, key }, (_request, response) => response.end('ok'))
          : createServer((_request, response) => response.end('ok'));
      const port = await listening(server);
      const asked: unknown[] = [];
      const proxy = createServer().on('connect', ({ url = '', headers }, client: Socket) => {
        asked.push([url, headers['proxy-authorization']]);
        const there = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
          client.pipe(there).pipe(client);
        });
        for (const socket of [client, there]) {
          socket.on('error', () => undefined);
          ending.push(() => socket.destroy());
        }
      });
      const proxyUrl = `http://ada:p%40ss@127.0.0.1:${await listening(proxy)}`;
      const proxied = pool(port, { proxyUrl, tls: { ca: ca.cert } }, scheme);
      expect(await bodyOf(await send(proxied, request()))).to.equal('ok');
      const credentials = `Basic ${Buffer.from('ada:p@ss').toString('base64')}`;
      expect(asked).to.deep.equal([[`127.0.0.1:${port}`, credentials]]);
    });
  }

  it('connects through a SOCKS proxy', async () => {
    const port = await listening(createServer((_request, response) => response.end('ok')));
    const proxy = await scripted((client, _at, bytes) => {
      // RFC 1928: no authentication, then CONNECT.
      if (bytes.length === 3) {
        client.write(Buffer.from([5, 0]));
        return;
      }
      client.removeAllListeners('data');
      const there = connect(port, '127.0.0.1', () => {
        client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
        client.pipe(there).pipe(client);
      });
      there.on('error', () => undefined);
    });
    const proxied = pool(port, { proxyUrl: `socks5://127.0.0.1:${proxy}` });
    expect(await bodyOf(await send(proxied, request()))).to.equal('ok');
  });

  it('closes the connection to a silent SOCKS proxy when the request is aborted', async () => {
    const greeted = Promise.withResolvers<Socket>();
    const proxy = await scripted((client) => greeted.resolve(client));
    const stop = new AbortController();
    const proxied = pool(1, { proxyUrl: `socks5://127.0.0.1:${proxy}` });
    const aborted = rejection(send(proxied, request({ work: abortableBy(stop.signal) })));
    const client = await greeted.promise;
    const closed = once(client, 'close');
    stop.abort(new Error('enough'));
    expect(await aborted).to.have.property('message', 'enough');
    await closed;
  });
});
