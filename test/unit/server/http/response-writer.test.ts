// Tests of the functions that write HTTP responses.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { acceptsGzip, writeBody } from '../../../../server/http/response-writer.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const PIECE = Buffer.alloc(256 << 10);

describe('writeBody', () => {
  let server: HandlerServer;
  let written: Promise<void>;
  let response: ServerResponse;

  async function serve(chunks: () => Iterable<Buffer>, signal: AbortSignal): Promise<void> {
    server = await new HandlerServer((context) => {
      ({ response } = context);
      written = writeBody(response, chunks(), signal);
      return written;
    }).start();
  }

  /** Far more than the kernel buffers; the generator records its progress. */
  function* endless(note: () => void = () => undefined): Generator<Buffer> {
    for (let piece = 0; piece < 1000; piece++) {
      note();
      yield PIECE;
    }
  }

  afterEach(() => server.close());

  it('lowers the limit per response with many slow clients', async () => {
    await serve(endless, never);
    // With at most 32 slow clients, each response may buffer 1 MiB and a piece.
    for (let reader = 0; reader < 64; reader++) await server.open('/');
    let waiting = 0;
    await until(() => {
      const before = waiting;
      waiting = response.writableLength;
      return waiting > 0 && waiting === before;
    });
    expect(waiting).to.be.lessThan(896 * 1024);
  });

  it('destroys the connection when aborted after the last chunk', async () => {
    const end = new AbortController();
    function* pieces(): Generator<Buffer> {
      yield PIECE;
      end.abort();
    }
    await serve(pieces, end.signal);
    const error: unknown = await server.ask('/').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'ECONNRESET');
  });

  it('stops waiting when the client disconnects or the server stops', async () => {
    await serve(endless, never);
    const left = await server.open('/');
    left.on('error', () => undefined).destroy();
    await written;
    await server.close();
    const stop = new AbortController();
    await serve(endless, stop.signal);
    const silent = await server.open('/');
    silent.on('error', () => undefined);
    await until(() => response.writableNeedDrain);
    stop.abort();
    await written;
    expect(response.destroyed).to.equal(true);
  });
});

function accepts(header: string | undefined): boolean {
  return acceptsGzip({ headers: header === undefined ? {} : { 'accept-encoding': header } });
}

describe('acceptsGzip', () => {
  const ACCEPTING = [
    'gzip',
    'br, gzip',
    'gzip;q=0.5',
    ' gzip ; q=1.0',
    'identity, gzip',
    'identity;q=0.5, gzip',
  ];
  for (const header of ACCEPTING) {
    it(`is true of ${header}`, () => expect(accepts(header)).to.equal(true));
  }

  for (const header of [undefined, '', 'br', 'x-gzip', 'gzip;q=0', 'gzip;q=0.000', 'identity, gzip;q=0.1']) {
    it(`is false of ${String(header)}`, () => expect(accepts(header)).to.equal(false));
  }
});
