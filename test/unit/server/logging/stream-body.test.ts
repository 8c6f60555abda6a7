import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGunzip } from 'node:zlib';
import { expect } from 'chai';
import { StreamBody } from '../../../../server/logging/stream-body.ts';

/** What it was given to write. */
const given: unknown[] = [];

function watch(response: ServerResponse): void {
  const write = (chunk: Buffer | string, done?: (error?: Error | null) => void): boolean => {
    given.push(chunk);
    Reflect.deleteProperty(response, 'write');
    const more = response.write(chunk, done);
    watch(response);
    return more;
  };
  Object.assign(response, { write });
}

describe('a body at the pace of its reader', () => {
  beforeEach(() => {
    given.length = 0;
  });

  for (const gzip of [false, true]) {
    it(`arrives whole, with texts of all lengths${gzip ? ', compressed' : ''}, and keeps none of them`, async () => {
      const texts = Array.from(
        { length: 300 },
        (_, n) => `${n} ${'aé字\u{1f600}'.repeat((n * n) % 9_000)}\n`,
      );
      const server = createServer((_, response) => {
        watch(response);
        const body = new StreamBody(response, { gzip, stallMs: 10_000 });
        const write = async () => {
          for (const text of texts) await body.write(text);
          await body.end();
        };
        write().catch(() => response.destroy());
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const { port } = server.address() as AddressInfo;
        const [answer] = (await once(get({ host: '127.0.0.1', port }), 'response')) as [IncomingMessage];
        let text = '';
        for await (const part of (gzip ? answer.pipe(createGunzip()) : answer).setEncoding('utf8'))
          text += part;
        expect(text === texts.join('')).to.equal(true);
        if (gzip) return;
        const buffers = given.filter((chunk) => Buffer.isBuffer(chunk));
        expect(buffers.length).to.be.above(200);
        expect(buffers.filter(({ length }) => length > 0)).to.deep.equal([]);
      } finally {
        server.close();
        server.closeAllConnections();
      }
    });
  }
});
