// Tests of the gateway with hostile clients: request smuggling, abuse of upgrades, slow and vanishing clients.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { until } from '../../support/until.ts';
import type { GatewayPlatform } from './gateway-platform.ts';
import { openTLS, parseResponse } from './raw-request.ts';
import { MAX_STREAMS, sharedGateway } from './shared-gateway.ts';

/** Time without a byte after which a connection counts as left open. */
const IDLE_MS = 20_000;
const HANDSHAKES = 50;
const CHUNKED = 'Transfer-Encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';

/** `smuggled`: a request that must never arrive at kube-apiserver. Headers are without Host. */
type Attack = readonly [status: number | undefined, bytes: (smuggled: string) => string];

describe('hostile clients', () => {
  let gateway: GatewayPlatform;
  let token: string;

  before(async () => {
    gateway = await sharedGateway();
    token = await gateway.signIn('ada');
  });

  const post = (headers: string, body: string): string =>
    request(
      'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
      `${headers}\r\nContent-Type: application/json`,
      body,
    );
  const exec = (): string =>
    `POST /api/v1/namespaces/${gateway.pod.namespace}/pods/${gateway.pod.name}/exec?command=cat&stdin=true`;
  const SPDY = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io';
  const WEBSOCKET =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: https://127.0.0.1\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

  /** Headers of a POST and the beginning of its body; the smuggled request follows. */
  const framings: readonly (readonly [headers: string, body: string])[] = [
    // Two framings (RFC 9112, 6.1 and 6.3).
    ['Content-Length: 5\r\nTransfer-Encoding: chunked', LAST_CHUNK],
    ['Transfer-Encoding: chunked\r\nContent-Length: 5', LAST_CHUNK],
    ['Content-Length: 0\r\nContent-Length: 5', ''],
    ['Content-Length: 2\r\nContent-Length: 2', '{}'],
    ['Content-Length: 2, 2', '{}'],
    ['Content-Length: +2', '{}'],
    ['Content-Length: -1', ''],
    ['Content-Length: 2 0', '{}'],
    ['Content-Length: 0x2', '{}'],
    ['Content-Length: 99999999999999999999', ''],
    ['Content-Length : 2', '{}'],
    ['Transfer-Encoding: xchunked', LAST_CHUNK],
    ['Transfer-Encoding: chunked, identity', LAST_CHUNK],
    ['Transfer-Encoding:\vchunked', LAST_CHUNK],
    ['Transfer-Encoding: "chunked"', LAST_CHUNK],
    ['Transfer-Encoding : chunked', LAST_CHUNK],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', LAST_CHUNK],
    // Chunks: signs, prefixes, missing and incomplete line ends.
    [CHUNKED, `+2\r\n{}\r\n${LAST_CHUNK}`],
    [CHUNKED, `0x2\r\n{}\r\n${LAST_CHUNK}`],
    [CHUNKED, `2\r\n{}${LAST_CHUNK}`],
    [CHUNKED, `2\n{}\r\n${LAST_CHUNK}`],
    [CHUNKED, `2;a\rb\r\n{}\r\n${LAST_CHUNK}`],
    [CHUNKED, `2;a\n{}\r\n${LAST_CHUNK}`],
    [CHUNKED, `2;${'a'.repeat(40_000)}\r\n{}\r\n${LAST_CHUNK}`],
  ];
  /** Headers of a GET. */
  const lines: readonly string[] = [
    'X-A: b\rX-C: d',
    'X-A: b\n\n',
    'X-A: b\r\n Impersonate-User: jane',
    'X-A: b\0c',
    'Impersonate-User: jane\0',
    'X A: b',
    'X-A',
    'Host: other\r\nConnection: close',
    'Authorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close',
  ];

  /** Request line, headers and the beginning of the data. */
  const upgrades = (): readonly (readonly [
    status: number | undefined,
    line: string,
    headers: string,
    data?: string,
  ])[] => [
    [404, 'GET /api/v1/namespaces/none/pods/none/exec', WEBSOCKET],
    [502, 'GET /version', WEBSOCKET],
    [undefined, 'GET /version', 'Connection: close, Upgrade\r\nUpgrade: h2c'],
    [undefined, exec(), 'Connection: close, Upgrade\r\nUpgrade: smuggling/1'],
    [101, exec(), SPDY],
    [undefined, exec(), `${SPDY}\r\nContent-Length: 5`, 'hello'],
    [undefined, exec(), `${SPDY}\r\n${CHUNKED}`, `5\r\nhello\r\n${LAST_CHUNK}`],
    [undefined, 'CONNECT 127.0.0.1:443', ''],
  ];

  /** Undefined as status: the server may also close the connection without a response. */
  const attacks = (): readonly Attack[] => [
    ...framings.map(([headers, body]): Attack => [400, (s) => post(headers, `${body}${s}`)]),
    ...lines.map((headers): Attack => [400, (s) => request('GET /api', headers) + s]),
    ...upgrades().map(
      ([status, line, headers, data = '']): Attack => [status, (s) => request(line, headers) + data + s],
    ),
    [
      undefined,
      (s) => post('Transfer_Encoding: chunked\r\nContent-Length: 5\r\nConnection: close', LAST_CHUNK + s),
    ],
    [400, (s) => post(CHUNKED, LAST_CHUNK + s).replace('HTTP/1.1', 'HTTP/1.0')],
    [400, (s) => `GET /api HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n${s}`],
    // Targets.
    [400, (s) => request(`GET ${targetOf(s).replace('/', 'https://127.0.0.1/')}`, 'Connection: close')],
    [400, (s) => request(`GET ${targetOf(s).replace('/', 'http://other.example/')}`, 'Connection: close')],
    [400, () => request('GET 127.0.0.1:443', 'Connection: close')],
    [400, (s) => request(`GET /api ${targetOf(s)}`, 'Connection: close')],
  ];

  it('smuggle no request to kube-apiserver', async () => {
    const results = await Promise.all(
      attacks().map(async ([expected, bytes]) => {
        const id = randomUUID();
        const sent = bytes(smuggledRequest(id));
        return { expected, id, sent, ...(await attack(sent)) };
      }),
    );
    // The audit log has this request, so it would have an earlier one too.
    const control = randomUUID();
    await attack(smuggledRequest(control));
    await until(async () => (await gateway.auditLog.records(control)).length > 0);
    const failed: object[] = [];
    for (const { expected, id, sent, statuses, closed } of results) {
      const arrived = (await gateway.auditLog.records(id)).length;
      const asExpected =
        statuses.length <= 1 && (expected === undefined ? statuses[0] !== 500 : statuses[0] === expected);
      if (arrived > 0 || !asExpected || !closed)
        failed.push({ sent: sent.slice(0, 300), statuses, arrived, closed });
    }
    expect(failed).to.deep.equal([]);
    await gateway.settled();
  });

  it('have a time limit for a log query that asks for a watch, which does not exist', async () => {
    // Only the filter of the time limit reads this parameter, and only for a request that is no stream.
    const path = '/apis/logging.platform.io/v1alpha2/logs?watch=true&timeout=x';
    const { status, body } = await gateway.platform.ask(path, { token });
    expect(status).to.equal(400);
    expect(body['message']).to.match(/^invalid timeout/);
  });

  it('leave nothing after many execs, and get 429 beyond the limit', async () => {
    const before = await openFiles();
    expect(before).to.be.above(0);
    const sockets: TLSSocket[] = [];
    const open = async (): Promise<number> => {
      const socket = await openTLS(gateway.target('gateway'));
      sockets.push(socket);
      socket.on('error', () => socket.destroy());
      socket.write(authorized(request(exec(), SPDY)));
      const [bytes] = (await once(socket, 'data')) as [Buffer];
      return parseResponse(bytes).status;
    };
    const statuses: number[] = [];
    const queue = Array.from({ length: MAX_STREAMS }).values();
    const work = async (): Promise<void> => {
      for (const _ of queue) statuses.push(await open());
    };
    await Promise.all(Array.from({ length: HANDSHAKES }, work));
    expect(new Set(statuses)).to.deep.equal(new Set([101]));
    expect(await gateway.metric('gateway_open_requests{kind="stream"}')).to.equal(MAX_STREAMS);
    const refused = await gateway.raw('gateway', [
      `GET /api/v1/namespaces?watch=true HTTP/1.1`,
      `Authorization: Bearer ${token}`,
    ]);
    expect(refused.status).to.equal(429);
    expect(refused.headers).to.deep.include(['retry-after', '1']);
    for (const socket of sockets) socket.destroy();
    await gateway.settled();
    await until(async () => (await openFiles()) <= before + 20);
  });

  it('release their requests when they vanish in the middle of a body, or read nothing', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const socket = await openTLS(gateway.target('gateway'));
        socket.on('error', () => socket.destroy());
        socket.pause();
        const half = post('Content-Length: 1000', '{"kind":');
        const large = request('GET /openapi/v2', 'Accept: application/json');
        socket.write(authorized(i % 2 === 0 ? half : large));
        return socket;
      }),
    );
    const open = (): Promise<number> => gateway.metric('gateway_open_requests{kind="request"}');
    await until(async () => (await open()) >= 10);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await open()) === 0);
  });

  function authorized(bytes: string): string {
    return bytes.replace('\r\n', `\r\nAuthorization: Bearer ${token}\r\n`);
  }

  function smuggledRequest(id: string): string {
    const headers = `Authorization: Bearer ${token}\r\nConnection: close`;
    return request(`GET /api/v1/namespaces/smuggled-${id}`, headers);
  }

  /** Sends the bytes. Resolves with the status codes of all responses when the server has closed the connection. */
  async function attack(bytes: string): Promise<{ statuses: number[]; closed: boolean }> {
    const socket = await openTLS(gateway.target('gateway'));
    socket.on('error', () => socket.destroy());
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      // A stream stays open until the client ends it.
      if (chunk.toString('latin1').startsWith('HTTP/1.1 101 ')) socket.end();
    });
    const two = /^Authorization:/im.test(bytes.split('\r\n\r\n')[0] ?? '');
    socket.write(Buffer.from(two ? bytes : authorized(bytes), 'latin1'));
    let closed = true;
    socket.setTimeout(IDLE_MS, () => {
      closed = false;
      socket.destroy();
    });
    await once(socket, 'close');
    const received = Buffer.concat(chunks).toString('latin1');
    return {
      statuses: [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
      closed,
    };
  }

  const openFiles = (): Promise<number> => gateway.metric('process_open_fds');
});

function request(line: string, headers: string, body = ''): string {
  const end = headers.includes('\r\n\r\n') || headers.includes('\n\n') ? '' : '\r\n\r\n';
  return `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}${end}${body}`;
}

/** The target of a request. */
function targetOf(bytes: string): string {
  return bytes.split(' ')[1] ?? '';
}
