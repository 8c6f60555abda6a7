// Tests of the HTTP response body of unknown length.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { GONE, StreamBody } from '../../../../server/http/stream-body.ts';
import { FakeTimers } from '../../../support/fake-timers.ts';
import { HandlerServer, servedHandler } from '../../../support/handler-server.ts';

/** A stall time in ms that no test reaches. */
const NEVER = 3_600_000;
const CHUNK = 128 << 10;

describe('StreamBody', () => {
  for (const gzip of [false, true]) {
    it(`delivers texts of all lengths${gzip ? ', compressed' : ''}`, async () => {
      const texts = Array.from(
        { length: 300 },
        (_, n) => `${n} ${'aé字\u{1f600}'.repeat((n * n) % 9_000)}\n`,
      );
      await using server = await new HandlerServer(async ({ response }) => {
        const body = new StreamBody(response, { gzip, stallMs: NEVER });
        for (const text of texts) await body.write(text);
        await body.end();
      }).start();
      const { body } = await server.ask('/');
      expect((gzip ? gunzipSync(body) : body).toString() === texts.join('')).to.equal(true);
    });
  }
});

/** Incompressible data beyond the buffers of the sockets. */
function* chunks(count = 256): Generator<Buffer> {
  for (let n = 0; n < count; n++) yield randomBytes(CHUNK);
}

describe('StreamBody with a reader that', () => {
  let answer: IncomingMessage;
  let response: ServerResponse;
  const server = servedHandler((context) => {
    ({ response } = context);
    response.flushHeaders();
  });

  beforeEach(async () => {
    answer = await server.open('/');
    answer.on('error', () => undefined);
  });
  afterEach(() => answer.destroy());

  /** Fills the buffers of the sockets. */
  async function fill(body: StreamBody): Promise<void> {
    let written = 0;
    for (const chunk of chunks()) {
      await body.write(chunk);
      written += CHUNK;
      for (let full = 0; response.writableNeedDrain || bytesSent() < written - CHUNK; ) {
        await new Promise((resolve) => setImmediate(resolve));
        full = response.writableNeedDrain ? full + 1 : 0;
        if (full === 100) return;
      }
    }
    throw new Error('the sockets have no end');
  }

  const bytesSent = (): number => response.socket?.bytesWritten ?? 0;

  for (const gzip of [false, true]) {
    const compressed = gzip ? ', compressed' : '';

    it(`stalls closes the connection, with bounded memory${compressed}`, async () => {
      // Longer than the compression of the buffered data.
      const body = new StreamBody(response, { gzip, stallMs: gzip ? 500 : 50 });
      let most = 0;
      const written = (async () => {
        for (const chunk of chunks()) {
          await body.write(chunk);
          most = Math.max(most, response.writableLength);
        }
      })();
      const failure: unknown = await written.catch((error: unknown) => error);
      expect(failure).to.equal(GONE);
      expect(most).to.be.below(2 << 20);
      if (!response.destroyed) await once(response, 'close');
    });

    for (const ending of ['end', 'break'] as const) {
      it(`does not read the ${ending} closes the connection${compressed}`, async () => {
        using timers = new FakeTimers();
        const body = new StreamBody(response, { gzip, stallMs: 50 });
        await fill(body);
        const ended = Promise.all([once(response, 'close'), body[ending]()]);
        await timers.tick(0);
        await timers.tick(49);
        expect(response.destroyed).to.equal(false);
        await timers.tick(1);
        await ended;
      });
    }

    it(`disconnects does not block the end${compressed}`, async () => {
      const body = new StreamBody(response, { gzip, stallMs: NEVER });
      await fill(body);
      const ended = body.end();
      answer.destroy();
      await ended;
      expect(body.closed).to.equal(true);
      const failure: unknown = await body.write('more').catch((error: unknown) => error);
      expect(failure).to.equal(GONE);
    });
  }
});
