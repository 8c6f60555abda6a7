// Tests of the reader of request bodies.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { readBody } from '../../../../server/http/request-body.ts';
import { heapInUse } from '../../../support/oauth/heap-in-use.ts';
import { rejection } from '../../../support/rejection.ts';
import { ask, chainEach, NODES, rawConnection } from '../filters/chain-fixture.ts';

describe('readBody', () => {
  const start = chainEach();

  it('returns 413 as soon as a chunked body exceeds the limit', async () => {
    const chain = await start({
      handler: async ({ request, response }) => {
        response.end(String((await readBody(request, 1000)).length));
      },
    });
    const headers = { 'test-user': 'alice', 'transfer-encoding': 'chunked' };
    const most = await ask(chain, NODES, { method: 'POST', headers, body: 'x'.repeat(1000) });
    expect(most.body).to.equal('1000');
    const socket = await rawConnection(chain);
    socket.write(
      `POST ${NODES} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1001)}\r\n`,
    );
    // The server responds although the body never ends.
    expect(await text(socket)).to.match(/^HTTP\/1\.1 413 [^]*connection: close/i);
    socket.destroy();
  });

  it('reads a body in tiny chunks without the memory of a buffer for each', async () => {
    const request = new IncomingMessage(new Socket());
    const reading = readBody(request, 1 << 20);
    const before = heapInUse();
    for (let i = 0; i < 1 << 20; i++) request.emit('data', Buffer.from([i % 251]));
    expect(heapInUse() - before).to.be.below(20 << 20);
    request.emit('end');
    const bytes = await reading;
    expect(bytes).to.have.length(1 << 20);
    expect(bytes.findIndex((byte, i) => byte !== i % 251)).to.equal(-1);
  });

  it('returns 400 for an incomplete body', async () => {
    const request = new IncomingMessage(new Socket());
    const reading = readBody(request, 10);
    request.destroy(new Error('cut'));
    expect(await rejection(reading)).to.include({ code: 400 });
    expect(Readable.isErrored(request)).to.equal(true);
  });
});
