import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { RequestReceiver } from '../../../../server/listener/listener.ts';
import { listenInsecure, open, readAll, stop } from './listening.ts';

/** Also when it is cut, which a client that still sends takes for an error. */
function ended(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => undefined);
  socket.once('close', () => resolve());
  socket.resume();
  return promise;
}

const REQUEST = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

describe('requests that come before the one before them is answered', () => {
  it('are all answered, in their order', async () => {
    let count = 0;
    const receiver: RequestReceiver = {
      request: (_request, response) => {
        const own = ++count;
        setImmediate(() => response.end(`answer ${own};`));
      },
    };
    const listener = await listenInsecure({ receiver });
    try {
      const socket = await open(listener);
      socket.write(`${REQUEST.repeat(19)}GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const answers = (await readAll(socket)).match(/answer \d+;/g);
      expect(answers).to.deep.equal(Array.from({ length: 20 }, (_, index) => `answer ${index + 1};`));
    } finally {
      await stop(listener);
    }
  });

  it('end the connection when a client sends them without a bound', async () => {
    let seen = 0;
    const receiver: RequestReceiver = { request: () => void seen++ };
    const listener = await listenInsecure({ receiver });
    try {
      const socket = await open(listener);
      const end = ended(socket);
      for (let i = 0; i < 20; i++) socket.write(REQUEST.repeat(100));
      await end;
      expect(seen).to.be.within(20, 100);
    } finally {
      await stop(listener);
    }
  });

  it('end the connection also when each is answered at once, for one piece holds hundreds of them', async () => {
    let seen = 0;
    const receiver: RequestReceiver = {
      request: (_request, response) => {
        seen++;
        response.end('ok');
      },
    };
    const listener = await listenInsecure({ receiver });
    try {
      const socket = await open(listener);
      const end = ended(socket);
      socket.write(REQUEST.repeat(1000));
      await end;
      expect(seen).to.be.lessThan(1000);
    } finally {
      await stop(listener);
    }
  });
});
