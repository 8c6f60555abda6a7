// Tests of requests with `Expect: 100-continue`.
import { once } from 'node:events';
import { expect } from 'chai';
import { readBody } from '../../../../server/http/request-body.ts';
import type { RequestReceiver } from '../../../../server/listener/listener.ts';
import { listenInsecure, open, readAll, stopListenersEach } from './listening.ts';

const HEAD =
  'POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n';

describe('a request with Expect: 100-continue', () => {
  stopListenersEach();

  it('gets 100 Continue only if and when the body is read', async () => {
    let reads = true;
    const receiver: Partial<RequestReceiver> = {
      request: (request, response) => {
        if (reads) void readBody(request, 10).then((body) => response.end(`read ${body.toString()}`));
        else response.writeHead(405).end('no');
      },
    };
    const listener = await listenInsecure({ receiver });
    const reading = await open(listener);
    reading.write(HEAD);
    const [interim] = (await once(reading, 'data')) as [Buffer];
    expect(interim.toString()).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
    reading.write('body');
    expect(await readAll(reading)).to.match(/^HTTP\/1\.1 200 [^]*read body/);
    reads = false;
    for (const body of ['', 'body']) {
      const socket = await open(listener);
      socket.write(HEAD + body);
      expect(await readAll(socket))
        .to.match(/^HTTP\/1\.1 405 /)
        .and.to.not.contain('100');
    }
  });
});
