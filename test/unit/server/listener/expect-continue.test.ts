// Tests of requests with `Expect: 100-continue`.
import { once } from 'node:events';
import { expect } from 'chai';
import type { RequestReceiver } from '../../../../server/listener/listener.ts';
import { readBody } from '../../../../server/request/request-body.ts';
import { listenInsecure, open, readAll, stop } from './listening.ts';

const HEAD =
  'POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';

describe('a request with Expect: 100-continue', () => {
  it('gets 100 Continue when the body is read', async () => {
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        void readBody(request, 10).then((body) => response.end(`read ${body.toString()}`));
      },
    };
    const listener = await listenInsecure({ receiver });
    try {
      const socket = await open(listener);
      socket.write(HEAD);
      const [interim] = (await once(socket, 'data')) as [Buffer];
      expect(interim.toString()).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write('body');
      expect(await readAll(socket))
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.match(/read body/);
    } finally {
      await stop(listener);
    }
  });

  it('gets no 100 Continue when the body is not read', async () => {
    const receiver: Partial<RequestReceiver> = {
      request: (_request, response) => {
        response.writeHead(405);
        response.end('no');
      },
    };
    const listener = await listenInsecure({ receiver });
    try {
      for (const body of ['', 'body']) {
        const socket = await open(listener);
        socket.write(HEAD + body);
        const answer = await readAll(socket);
        expect(answer).to.match(/^HTTP\/1\.1 405 /);
        expect(answer).to.not.contain('100');
      }
    } finally {
      await stop(listener);
    }
  });
});
