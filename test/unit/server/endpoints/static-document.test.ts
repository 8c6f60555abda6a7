// Tests of responses with documents that rarely change.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { GZIP_THRESHOLD } from '../../../../server/endpoints/response.ts';
import { staticBytes, writeDocument } from '../../../../server/endpoints/static-document.ts';
import { Exchange } from '../../../../server/filters/exchange.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { silent } from '../listener/listening.ts';

// Larger than the kernel buffers of a connection whose client does not read.
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'abcdefghijklmnop');

describe('writeDocument', () => {
  let server: Server;
  let written: PromiseWithResolvers<ServerResponse>;

  beforeEach(async () => {
    written = Promise.withResolvers();
    server = createServer((request, response) => {
      const arrival = { request, response, secure: false, upgrade: undefined };
      void writeDocument(new Exchange(arrival, silent, 0, 0), staticBytes(LARGE), {});
      written.resolve(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('buffers one piece at a time for a slow client, and sends the whole document', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const response = await written.promise;
    expect(response.writableLength).to.be.lessThan(256 * 1024);
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.resume();
    await once(socket, 'end');
    const received = Buffer.concat(pieces);
    expect(received.subarray(-LARGE.length).equals(LARGE)).to.equal(true);
    expect(response.writableFinished).to.equal(true);
  });
});

describe('writeDocument with a large document', () => {
  const bytes = Buffer.alloc(GZIP_THRESHOLD + 1, 'abcdefghijklmnop');
  const document = staticBytes(bytes);
  const server = new HandlerServer((context) => writeDocument(context, document, {}));
  const ask = (headers: Readonly<Record<string, string>>, method = 'GET') =>
    server.ask('/', { method, headers });

  before(() => server.start());
  after(() => server.close());

  it('compresses for clients that accept gzip', async () => {
    const small = await ask({ 'accept-encoding': 'gzip' });
    expect(small.headers['content-encoding']).to.equal('gzip');
    expect(small.headers['content-length']).to.equal(String(small.body.length));
    expect(gunzipSync(small.body).equals(bytes)).to.equal(true);
    const whole = await ask({});
    expect(whole.headers['content-encoding']).to.equal(undefined);
    expect(whole.body.equals(bytes)).to.equal(true);
    for (const { headers } of [small, whole]) expect(headers['vary']).to.include('Accept-Encoding');
  });

  it('has one entity tag per encoding', async () => {
    const small = await ask({ 'accept-encoding': 'gzip' });
    const whole = await ask({});
    const tag = String(small.headers.etag);
    expect(tag).to.not.equal(whole.headers.etag);
    expect((await ask({ 'accept-encoding': 'gzip', 'if-none-match': tag })).status).to.equal(304);
    expect((await ask({ 'if-none-match': tag })).status).to.equal(200);
  });

  it('returns the Content-Length of the accepted encoding for HEAD', async () => {
    const small = await ask({ 'accept-encoding': 'gzip' });
    const head = await ask({ 'accept-encoding': 'gzip' }, 'HEAD');
    expect(head.headers['content-length']).to.equal(small.headers['content-length']);
    expect(head.body).to.have.length(0);
  });
});
