// Tests of bodies in tiny chunks.
import { expect } from 'chai';
import { readBody } from '../../../../server/http/request-body.ts';
import type { RequestReceiver } from '../../../../server/listener/listener.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

const HEAD =
  'POST /oauth/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n';

describe('a body in chunks', () => {
  stopListenersEach();

  const receiver: Partial<RequestReceiver> = {
    request: (request, response) =>
      void readBody(request, 1 << 20).then(
        (body) => response.end(`read ${body.length}`),
        () => response.destroy(),
      ),
  };

  /** Returns the response to a body of `count` chunks of `size` bytes, which are sent together. */
  async function respondTo(count: number, size: number): Promise<string> {
    const socket = await open(await listenInsecure({ receiver }));
    socket.on('error', () => undefined);
    const chunk = `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
    socket.write(`${HEAD}${chunk.repeat(count)}0\r\n\r\n`);
    return readAll(socket).catch(() => 'reset');
  }

  it('closes its connection if very many tiny ones arrive together', async () => {
    expect(await respondTo(9_000, 1)).to.not.contain('read');
  });

  for (const [count, size] of [
    [900, 1],
    [3_000, 16],
    [300, 1_000],
  ] as const) {
    it(`is read if ${count} chunks of ${size} bytes arrive together`, async () => {
      expect(await respondTo(count, size)).to.match(new RegExp(`read ${count * size}$`));
    });
  }
});
