// Tests of the memory limit for responses that clients have not read yet.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import {
  BufferedResponses,
  type BufferedResponsesOptions,
} from '../../../../server/http/buffered-responses.ts';
import type { RequestContext } from '../../../../server/request/request-context.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { until, untilSteady } from '../../../support/until.ts';

// Larger than the kernel buffers of a connection whose client does not read.
const BODY = Buffer.alloc(24 << 20, 'abcdefghijklmnop');
const ONE = { bytes: BODY.length, protectedMs: 0 };
const TWO = { bytes: 2 * BODY.length, protectedMs: 0 };

describe('BufferedResponses', () => {
  let server: HandlerServer;
  /** Paths in the order of their responses. */
  let begun: string[];
  /** It advances whenever the server takes the next piece of a body. */
  let clock: number;

  async function start(options: BufferedResponsesOptions): Promise<void> {
    begun = [];
    clock = 0;
    const held = new BufferedResponses({ ...options, monotonic: () => ++clock });
    server = await new HandlerServer((context: RequestContext) =>
      held.write(context, BODY, () => {
        begun.push(context.info.path);
        context.response.writeHead(200, { 'Content-Length': BODY.length });
      }),
    ).start();
  }
  afterEach(() => server.close());

  /** A client that does not read yet, when the kernel accepts no further piece for it. */
  async function stalled(path: string): Promise<Socket> {
    const socket = connect(server.port, '127.0.0.1');
    socket.pause().on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await until(() => begun.includes(path));
    await untilSteady(() => clock);
    return socket;
  }

  /** Reads no more than the server needs to take another piece: soon after, the kernel would have the whole body. */
  async function readNext(socket: Socket): Promise<void> {
    const before = clock;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.on('data', function pause() {
      if (clock === before) return;
      socket.off('data', pause).pause();
      resolve();
    });
    socket.resume();
    await promise;
  }

  async function lengthOf(incoming: IncomingMessage): Promise<number> {
    let length = 0;
    for await (const piece of incoming) length += (piece as Buffer).length;
    return length;
  }

  async function received(socket: Socket): Promise<number> {
    socket.resume();
    await once(socket, 'close');
    return socket.bytesRead;
  }

  it('aborts an idle response for one whose client reads', async () => {
    await start(ONE);
    const slow = await stalled('/slow');
    expect((await server.ask('/prompt')).body.length).to.equal(BODY.length);
    expect(await received(slow)).to.be.lessThan(BODY.length);
  });

  it('aborts responses in the order of their last read', async () => {
    await start(TWO);
    const slow = await stalled('/slow');
    const stuck = await stalled('/stuck');
    await readNext(slow);
    expect(await lengthOf(await server.open('/prompt'))).to.equal(BODY.length);
    expect(await received(stuck)).to.be.lessThan(BODY.length);
    expect(await received(slow)).to.be.greaterThan(BODY.length);
  });

  it('protects new responses, while others wait', async () => {
    await start({ ...ONE, protectedMs: 60_000 });
    const first = await stalled('/first');
    const second = server.ask('/second');
    expect(await received(first)).to.be.greaterThan(BODY.length);
    expect((await second).body.length).to.equal(BODY.length);
    expect(begun).to.deep.equal(['/first', '/second']);
  });

  it('lets a response over the limit wait alone', async () => {
    await start({ bytes: 1, protectedMs: 60_000 });
    const first = await stalled('/first');
    const next = server.ask('/next');
    first.destroy();
    expect((await next).body.length).to.equal(BODY.length);
    expect(begun).to.deep.equal(['/first', '/next']);
  });
});
