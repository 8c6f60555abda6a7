// Tests of upgrades through the gateway, with a scripted kube-apiserver.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { ForwardingServer, readAll, readUntil } from '../../../support/gateway/forwarding-server.ts';
import { ScriptedUpstream } from '../../../support/gateway/scripted-upstream.ts';
import { until, untilSteady } from '../../../support/until.ts';

const EXEC = '/api/v1/namespaces/shop/pods/cart/exec?command=sh';
const SPDY = [`POST ${EXEC} HTTP/1.1`, 'Connection: Upgrade', 'Upgrade: SPDY/3.1', 'Content-Length: 0'];
const WEB_SOCKET = [
  `GET ${EXEC} HTTP/1.1`,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==',
  'Sec-WebSocket-Protocol: v5.channel.k8s.io',
];
const ACCEPTED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';

describe('a forwarded upgrade', () => {
  let upstream: ScriptedUpstream;
  let server: ForwardingServer;

  beforeEach(async () => {
    upstream = await ScriptedUpstream.start();
    server = await ForwardingServer.start({ cluster: () => upstream });
  });
  afterEach(async () => {
    await server.stop();
    await upstream.stop();
  });

  /** Opens a tunnel: the connection of the client, and that of kube-apiserver. */
  async function tunnel(): Promise<readonly [client: Socket, kube: TLSSocket]> {
    const opened = Promise.withResolvers<TLSSocket>();
    upstream.upgrade = (_request, socket) => {
      socket.write(ACCEPTED);
      opened.resolve(socket);
    };
    const client = await server.send(SPDY);
    await readUntil(client, '\r\n\r\n');
    return [client, await opened.promise];
  }

  it('keeps the bytes of its headers and of those of its response', async () => {
    const bytes = 'j\xc3\xbcrgen \xff';
    upstream.upgrade = (_request, socket) => {
      socket.write(
        ACCEPTED.replace('\r\n', `\r\nWarning: ${bytes}\r\n`).replace('Protocols', bytes),
        'latin1',
      );
    };
    const client = await server.send([...SPDY, `X-Name: ${bytes}`]);
    const head = await readUntil(client, '\r\n\r\n');
    expect(head).to.contain(`HTTP/1.1 101 Switching ${bytes}\r\n`).and.contain(`Warning: ${bytes}\r\n`);
    expect(upstream.received[0]?.headers).to.include({ 'x-name': bytes });
  });

  it('has no control characters in the reason phrase, accepted or rejected', async () => {
    for (const start of [ACCEPTED, 'HTTP/1.1 403 Switching Protocols\r\nContent-Length: 0\r\n\r\n']) {
      upstream.upgrade = (_request, socket) => {
        socket.write(start.replace('Switching', '\u001b[31m'), 'latin1');
      };
      const client = await server.send(SPDY);
      const head = await readUntil(client, '\r\n\r\n');
      expect(head.split('\r\n')[0]).to.equal(`${start.slice(0, 12)} `);
      client.destroy();
    }
  });

  it('gets the status and the body of a rejection, on a connection that is not reused', async () => {
    const status = JSON.stringify({
      kind: 'Status',
      message: 'pods "cart" is forbidden '.repeat(5_000),
      code: 403,
    });
    upstream.upgrade = (_request, socket) => {
      const head = `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: ${status.length}`;
      socket.write(`${head}\r\n\r\n${status}`);
    };
    for (const lines of [SPDY, WEB_SOCKET]) {
      const response = await readAll(await server.send(lines));
      expect(response).to.match(/^HTTP\/1\.1 403 Forbidden\r\n/);
      expect(response.slice(response.indexOf('\r\n\r\n') + 4)).to.equal(status);
    }
    expect(upstream.accepted).to.equal(2);
    await until(() => upstream.connections.size === 0);
    await server.exchange(['GET /api HTTP/1.1']);
    expect(upstream.accepted).to.equal(3);
    expect(server.pools.gatewayStreams.held).to.equal(0);
  });

  it('gets a large rejection, although it reads slowly', async () => {
    const body = Buffer.alloc(32 << 20, 'a');
    upstream.upgrade = (_request, socket) => {
      socket.write(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    };
    const client = await server.send(SPDY);
    await until(() => client.readableLength > 0);
    const response = await readAll(client);
    expect(response.length - response.indexOf('\r\n\r\n') - 4).to.equal(body.length);
  });

  it('is a 502 after a response that neither accepts nor rejects it', async () => {
    for (const head of ['200 OK', '204 No Content', '302 Found\r\nLocation: https://127.0.0.1/']) {
      upstream.upgrade = (_request, socket) => {
        socket.write(`HTTP/1.1 ${head}\r\n${head.startsWith('204') ? '' : 'Content-Length: 2\r\n'}\r\n`);
        if (!head.startsWith('204')) socket.write('no');
      };
      const response = await readAll(await server.send(SPDY));
      expect(response)
        .to.match(/^HTTP\/1\.1 502 /)
        .and.not.match(/location/i);
      await until(() => upstream.connections.size === 0);
    }
    upstream.upgrade = (_request, socket) => socket.write(ACCEPTED.replace('SPDY/3.1', 'websocket'));
    expect(await readAll(await server.send(SPDY))).to.match(/^HTTP\/1\.1 502 /);
    await until(() => upstream.connections.size === 0);
  });

  it('is a 400 with a body, which is not forwarded', async () => {
    const lines = SPDY.map((line) => line.replace('Content-Length: 0', 'Content-Length: 5'));
    expect(await readAll(await server.send(lines, 'hello'))).to.match(/^HTTP\/1\.1 400 /);
    expect(upstream.received).to.have.length(0);
  });

  it('keeps the bytes that arrive with the upgrade, in both directions', async () => {
    upstream.upgrade = (_request, socket, head) => {
      let seen = head.toString();
      socket.write(`${ACCEPTED}first bytes`);
      socket.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (seen === 'early and late') socket.end(`; seen: ${seen}`);
      });
    };
    const client = await server.open();
    // One write, so that the bytes arrive with the headers.
    client.write(`${[...SPDY, 'Host: gateway'].join('\r\n')}\r\n\r\nearly`);
    expect(await readUntil(client, 'first bytes')).to.match(/^HTTP\/1\.1 101 /);
    client.write(' and late');
    expect(await readAll(client)).to.equal('; seen: early and late');
  });

  it('ends with the last bytes when kube-apiserver ends it, even for a slow client', async () => {
    const [client, kube] = await tunnel();
    const size = 8 << 20;
    kube.end(Buffer.alloc(size, 'x'));
    let received = 0;
    for await (const chunk of client) {
      received += (chunk as Buffer).length;
      await nextTurn();
    }
    client.end();
    expect(received).to.equal(size);
    await until(() => upstream.connections.size === 0 && server.connections === 0);
    await until(() => server.pools.gatewayStreams.held === 0);
  });

  it('delivers the bytes before a reset of the connection to kube-apiserver, even to a slow client', async () => {
    const opened = nextUpgradedConnection();
    const [client, kube] = await tunnel();
    const connection = await opened;
    let passed = 0;
    connection.on('data', (chunk: Buffer) => {
      passed += chunk.length;
    });
    client.pause();
    const down = written(kube);
    await untilSteady(() => down.bytes);
    connection.destroy(new Error('read ECONNRESET'));
    expect((await readAll(client)).length).to.equal(passed);
    await until(() => server.connections === 0 && server.pools.gatewayStreams.held === 0);
  });

  it('closes the other connection when one is reset', async () => {
    const [client, kube] = await tunnel();
    client.resetAndDestroy();
    if (!kube.destroyed) await once(kube, 'close');
    const [next, other] = await tunnel();
    other.destroy();
    await readAll(next);
    await until(() => server.connections === 0 && server.pools.gatewayStreams.held === 0);
  });

  it('holds little of what its receiver does not read, in both directions', async () => {
    const [client, kube] = await tunnel();
    client.pause();
    kube.pause();
    const [up, down] = [written(client), written(kube)];
    await untilSteady(() => up.bytes + down.bytes);
    expect(up.bytes).to.be.lessThan(32 << 20);
    expect(down.bytes).to.be.lessThan(32 << 20);
    client.destroy();
    await until(() => upstream.connections.size === 0);
  });

  it('ends when the server stops', async () => {
    const [client, kube] = await tunnel();
    expect(server.chain.drain()).to.equal(1);
    await readAll(client);
    if (!kube.destroyed) await once(kube, 'close');
    expect(await readAll(await server.send(WEB_SOCKET))).to.match(/^HTTP\/1\.1 503 /);
    expect(server.pools.gatewayStreams.held).to.equal(0);
  });
});

/** Resolves with the next connection of the gateway to kube-apiserver that is upgraded. */
function nextUpgradedConnection(): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const channel = 'http.client.request.start';
  const onRequest = (message: unknown): void => {
    unsubscribe(channel, onRequest);
    const { request } = message as { request: ClientRequest };
    request.once('upgrade', (_response, socket: Socket) => resolve(socket));
  };
  subscribe(channel, onRequest);
  return promise;
}

/** Writes as fast as the receiver reads. */
function written(socket: Socket): { readonly bytes: number } {
  const chunk = Buffer.alloc(1 << 20);
  const total = { bytes: 0 };
  const write = (): void => {
    total.bytes += chunk.length;
    socket.write(chunk, (error) => error ?? write());
  };
  socket.on('error', () => undefined);
  write();
  return total;
}
