// Tests of responses with documents that rarely change.
import type { ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { GZIP_THRESHOLD } from '../../../../server/http/response-writer.ts';
import { staticBytes, writeDocument } from '../../../../server/http/static-document.ts';
import { HandlerServer, servedHandler } from '../../../support/handler-server.ts';

// Larger than the kernel buffers of a connection whose client does not read.
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'abcdefghijklmnop');

describe('writeDocument', () => {
  it('buffers one piece at a time for a slow client, and sends the whole document', async () => {
    let response: ServerResponse | undefined;
    await using server = await new HandlerServer((context) => {
      ({ response } = context);
      return writeDocument(context, staticBytes(LARGE), {});
    }).start();
    const incoming = await server.open('/');
    expect(response?.writableLength).to.be.lessThan(256 * 1024);
    const received = Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>));
    expect(received.equals(LARGE)).to.equal(true);
  });
});

describe('writeDocument with a large document', () => {
  const bytes = Buffer.alloc(GZIP_THRESHOLD + 1, 'abcdefghijklmnop');
  const document = staticBytes(bytes);
  const server = servedHandler((context) => writeDocument(context, document, {}));
  const ask = (headers: Readonly<Record<string, string>>, method = 'GET') =>
    server.ask('/', { method, headers });

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
