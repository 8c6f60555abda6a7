// Tests of the graceful close of a connection.
import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { readBody } from '../../../../server/http/request-body.ts';
import type { Listener } from '../../../../server/listener/listener.ts';
import { until } from '../../../support/until.ts';
import { issuedInMemory, listenSecure, readAll, stop } from '../listener/listening.ts';

describe('closeGracefully', () => {
  const life = new AbortController();
  let listener: Listener;

  before(async () => {
    listener = await listenSecure(await issuedInMemory(life.signal), {
      receiver: {
        request: (request, response) => {
          readBody(request, 1_000).then(
            () => response.end(),
            () => response.writeHead(413, { Connection: 'close' }).end('the response'),
          );
        },
      },
    });
  });

  after(async () => {
    await stop(listener);
    life.abort();
  });

  /** Reads nothing before `body` is sent. */
  async function post(body: Buffer) {
    const socket = connect({ host: '127.0.0.1', port: listener.address.port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.pause();
    socket.write(`POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    return { socket, sent: new Promise<Error | null | undefined>((done) => socket.write(body, done)) };
  }

  for (const megabytes of [0.2, 4]) {
    it(`lets a client that sends a body of ${megabytes} MB first read the 413`, async () => {
      const { socket, sent } = await post(Buffer.alloc(megabytes * 1_000_000));
      expect(await sent).to.be.oneOf([null, undefined]);
      socket.resume();
      expect(await readAll(socket)).to.match(/^HTTP\/1\.1 413 [^]*the response/);
    });
  }

  it('discards at most 16 MiB of a body', async () => {
    // More than loopback transmits between two checks of the limit.
    const { socket, sent } = await post(Buffer.alloc(192 << 20));
    socket.on('error', () => undefined).resume();
    await until(() => socket.destroyed);
    expect(await sent).to.be.instanceOf(Error);
  });
});
