// Tests of the gateway with hostile clients: request smuggling, abuse of upgrades, slow and vanishing clients.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { GatewayPlatform } from './gateway-platform.ts';
import { openTLS, parseResponse } from './raw-request.ts';

const POLL_MS = 50;
/** Time without a byte after which a connection counts as left open. */
const IDLE_MS = 20_000;
/** The default of gateway.maxStreamsPerCaller. */
const MAX_STREAMS = 1_000;
const HANDSHAKES = 50;

/** `smuggled`: a request that must never arrive at kube-apiserver. Headers are without Host. */
type Attack = readonly [title: string, status: number | undefined, bytes: (smuggled: string) => string];

export function describeHostileClients(subject: () => GatewayPlatform): void {
  describe('hostile clients', () => {
    let gateway: GatewayPlatform;
    let token: string;

    before(async () => {
      gateway = subject();
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

    /** Undefined as status: the server may also close the connection without a response. */
    const attacks: readonly Attack[] = [
      // Two framings (RFC 9112, 6.1 and 6.3).
      [
        'Content-Length and Transfer-Encoding',
        400,
        (s) => post('Content-Length: 5\r\nTransfer-Encoding: chunked', `0\r\n\r\n${s}`),
      ],
      [
        'Transfer-Encoding and Content-Length',
        400,
        (s) => post('Transfer-Encoding: chunked\r\nContent-Length: 5', `0\r\n\r\n${s}`),
      ],
      ['two Content-Length', 400, (s) => post('Content-Length: 0\r\nContent-Length: 5', s)],
      ['two equal Content-Length', 400, (s) => post('Content-Length: 2\r\nContent-Length: 2', `{}${s}`)],
      ['a list of Content-Length', 400, (s) => post('Content-Length: 2, 2', `{}${s}`)],
      ['Content-Length with plus', 400, (s) => post('Content-Length: +2', `{}${s}`)],
      ['Content-Length with minus', 400, (s) => post('Content-Length: -1', s)],
      ['Content-Length with a space', 400, (s) => post('Content-Length: 2 0', `{}${s}`)],
      ['hexadecimal Content-Length', 400, (s) => post('Content-Length: 0x2', `{}${s}`)],
      ['Content-Length beyond 64 bits', 400, (s) => post('Content-Length: 99999999999999999999', s)],
      ['a space before the colon', 400, (s) => post('Content-Length : 2', `{}${s}`)],
      [
        'obfuscated Transfer-Encoding: xchunked',
        400,
        (s) => post('Transfer-Encoding: xchunked', `0\r\n\r\n${s}`),
      ],
      [
        'obfuscated Transfer-Encoding: identity last',
        400,
        (s) => post('Transfer-Encoding: chunked, identity', `0\r\n\r\n${s}`),
      ],
      [
        'obfuscated Transfer-Encoding: vertical tab',
        400,
        (s) => post('Transfer-Encoding:\vchunked', `0\r\n\r\n${s}`),
      ],
      [
        'obfuscated Transfer-Encoding: quoted',
        400,
        (s) => post('Transfer-Encoding: "chunked"', `0\r\n\r\n${s}`),
      ],
      [
        'obfuscated Transfer-Encoding: space before the colon',
        400,
        (s) => post('Transfer-Encoding : chunked', `0\r\n\r\n${s}`),
      ],
      [
        'obfuscated Transfer-Encoding: underscore',
        undefined,
        (s) => post('Transfer_Encoding: chunked\r\nContent-Length: 5\r\nConnection: close', `0\r\n\r\n${s}`),
      ],
      [
        'two Transfer-Encoding',
        400,
        (s) => post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', `0\r\n\r\n${s}`),
      ],
      [
        'chunked encoding in HTTP/1.0',
        400,
        (s) => post('Transfer-Encoding: chunked', `0\r\n\r\n${s}`).replace('HTTP/1.1', 'HTTP/1.0'),
      ],
      // Chunks.
      ['a chunk size with plus', 400, (s) => post('Transfer-Encoding: chunked', `+2\r\n{}\r\n0\r\n\r\n${s}`)],
      ['a chunk size with 0x', 400, (s) => post('Transfer-Encoding: chunked', `0x2\r\n{}\r\n0\r\n\r\n${s}`)],
      ['a chunk without CRLF', 400, (s) => post('Transfer-Encoding: chunked', `2\r\n{}0\r\n\r\n${s}`)],
      ['a chunk size with bare LF', 400, (s) => post('Transfer-Encoding: chunked', `2\n{}\r\n0\r\n\r\n${s}`)],
      [
        'a bare CR in a chunk extension',
        400,
        (s) => post('Transfer-Encoding: chunked', `2;a\rb\r\n{}\r\n0\r\n\r\n${s}`),
      ],
      [
        'a bare LF in a chunk extension',
        400,
        (s) => post('Transfer-Encoding: chunked', `2;a\n{}\r\n0\r\n\r\n${s}`),
      ],
      [
        'a large chunk extension',
        400,
        (s) => post('Transfer-Encoding: chunked', `2;${'a'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n${s}`),
      ],
      // Lines.
      ['a bare CR in a header', 400, (s) => request('GET /api', `X-A: b\rX-C: d\r\n\r\n${s}`)],
      ['a bare LF after a header', 400, (s) => request('GET /api', `X-A: b\n\n${s}`)],
      ['a folded header', 400, (s) => request('GET /api', `X-A: b\r\n Impersonate-User: jane\r\n\r\n${s}`)],
      ['a folded first header', 400, (s) => `GET /api HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n${s}`],
      ['a NUL in a header', 400, (s) => request('GET /api', `X-A: b\0c\r\n\r\n${s}`)],
      [
        'a NUL in an identity header',
        400,
        (s) => request('GET /api', `Impersonate-User: jane\0\r\n\r\n${s}`),
      ],
      ['a space in a header name', 400, (s) => request('GET /api', `X A: b\r\n\r\n${s}`)],
      ['a header without a colon', 400, (s) => request('GET /api', `X-A\r\n\r\n${s}`)],
      ['two Host', 400, (s) => request('GET /api', `Host: other\r\nConnection: close\r\n\r\n${s}`)],
      [
        'two Authorization',
        400,
        (s) =>
          request(
            'GET /api',
            `Authorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n${s}`,
          ),
      ],
      // Targets.
      [
        'a target in absolute form',
        400,
        (s) => request(`GET ${targetOf(s).replace('/', 'https://127.0.0.1/')}`, 'Connection: close'),
      ],
      [
        'a target of another host',
        400,
        (s) => request(`GET ${targetOf(s).replace('/', 'http://other.example/')}`, 'Connection: close'),
      ],
      ['a target in authority form', 400, () => request('GET 127.0.0.1:443', 'Connection: close')],
      ['CONNECT', undefined, (s) => request('CONNECT 127.0.0.1:443', `\r\n\r\n${s}`)],
      ['a space in the target', 400, (s) => request(`GET /api ${targetOf(s)}`, 'Connection: close')],
      // Upgrades.
      [
        'a request behind a rejected upgrade',
        404,
        (s) => request('GET /api/v1/namespaces/none/pods/none/exec', `${WEBSOCKET}\r\n\r\n${s}`),
      ],
      [
        'a request behind an upgrade of another resource',
        502,
        (s) => request('GET /version', `${WEBSOCKET}\r\n\r\n${s}`),
      ],
      [
        'a request behind an upgrade to h2c',
        undefined,
        (s) => request('GET /version', `Connection: close, Upgrade\r\nUpgrade: h2c\r\n\r\n${s}`),
      ],
      [
        'a request behind an upgrade to an unknown protocol',
        undefined,
        (s) => request(exec(), `Connection: close, Upgrade\r\nUpgrade: smuggling/1\r\n\r\n${s}`),
      ],
      ['a request behind an accepted upgrade', 101, (s) => request(exec(), `${SPDY}\r\n\r\n${s}`)],
      [
        'an upgrade of a POST with a body',
        undefined,
        (s) => request(exec(), `${SPDY}\r\nContent-Length: 5\r\n\r\nhello${s}`),
      ],
      [
        'an upgrade of a POST with chunks',
        undefined,
        (s) => request(exec(), `${SPDY}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n${s}`),
      ],
    ];

    it('smuggle no request to kube-apiserver', async () => {
      const results = await Promise.all(
        attacks.map(async ([title, expected, bytes]) => {
          const id = randomUUID();
          const { statuses, closed } = await attack(bytes(smuggledRequest(id)));
          return { title, expected, id, statuses, closed };
        }),
      );
      // The audit log has this request, so it would have an earlier one too.
      const control = randomUUID();
      await attack(smuggledRequest(control));
      while ((await gateway.auditLog.records(control)).length === 0) {
        await delay(POLL_MS, undefined, { signal: gateway.platform.signal });
      }
      const failed: object[] = [];
      for (const { title, expected, id, statuses, closed } of results) {
        const arrived = (await gateway.auditLog.records(id)).length;
        const asExpected =
          statuses.length <= 1 && (expected === undefined ? statuses[0] !== 500 : statuses[0] === expected);
        if (arrived > 0 || !asExpected || !closed) failed.push({ title, statuses, arrived, closed });
      }
      expect(failed).to.deep.equal([]);
      await gateway.settled();
    });

    it('leave nothing after 1,000 execs, and get 429 beyond the limit', async () => {
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
      while ((await openFiles()) > before + 20) {
        await delay(POLL_MS, undefined, { signal: gateway.platform.signal });
      }
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
      while ((await gateway.metric('gateway_open_requests{kind="request"}')) < 10) {
        await delay(POLL_MS, undefined, { signal: gateway.platform.signal });
      }
      for (const socket of sockets) socket.destroy();
      while ((await gateway.metric('gateway_open_requests{kind="request"}')) > 0) {
        await delay(POLL_MS, undefined, { signal: gateway.platform.signal });
      }
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

    async function openFiles(): Promise<number> {
      return gateway.metric('process_open_fds');
    }
  });
}

function request(line: string, headers: string, body = ''): string {
  const end = headers.includes('\r\n\r\n') || headers.includes('\n\n') ? '' : '\r\n\r\n';
  return `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}${end}${body}`;
}

/** The target of a request. */
function targetOf(bytes: string): string {
  return bytes.split(' ')[1] ?? '';
}
