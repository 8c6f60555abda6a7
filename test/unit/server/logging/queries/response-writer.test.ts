import { setImmediate as nextTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { TimeSlicer } from '../../../../../server/concurrency/time-slicer.ts';
import { BufferedResponses } from '../../../../../server/endpoints/buffered-responses.ts';
import { encodedResponse, writeResponse } from '../../../../../server/logging/queries/responses.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

describe('writeResponse', () => {
  let server: HandlerServer;
  /** More bytes than characters. */
  const long = { log: 'ä'.repeat(100_000) };
  let answer: object;

  beforeEach(async () => {
    answer = long;
    const buffered = new BufferedResponses({ bytes: 1 << 20, protectedMs: 1_000 });
    server = await new HandlerServer((context) =>
      writeResponse(context, answer, { buffered, slicer: new TimeSlicer() }),
    ).start();
  });
  afterEach(() => server.close());

  const gzip = { headers: { 'Accept-Encoding': 'gzip' } };

  it('compresses a long response for clients that accept gzip', async () => {
    const { headers, body } = await server.ask('/', gzip);
    expect(headers).to.include({ 'content-encoding': 'gzip', 'content-length': String(body.length) });
    expect(JSON.parse(gunzipSync(body).toString())).to.deep.equal(long);
  });

  it('does not compress a short response, nor for other clients', async () => {
    const whole = await server.ask('/');
    expect(whole.headers).not.to.have.property('content-encoding');
    expect(whole.headers['content-length']).to.equal(String(whole.body.length));
    expect(JSON.parse(whole.body.toString())).to.deep.equal(long);
    answer = { log: 'short' };
    const { headers, body } = await server.ask('/', gzip);
    expect(headers).not.to.have.property('content-encoding');
    expect(body.toString()).to.equal('{"log":"short"}\n');
  });

  it('sends the same headers for HEAD', async () => {
    const { headers } = await server.ask('/', gzip);
    const head = await server.ask('/', { ...gzip, method: 'HEAD' });
    expect(head.body).to.have.length(0);
    expect(head.headers).to.include({
      'content-encoding': 'gzip',
      'content-length': headers['content-length'],
      'cache-control': 'no-store',
      vary: 'Accept-Encoding, Origin',
    });
  });

  it('buffers only long responses', async () => {
    const waiting: number[] = [];
    const writing = await new HandlerServer((context) =>
      writeResponse(context, answer, {
        buffered: {
          write: async ({ response }, body, writeHead) => {
            waiting.push(body.length);
            writeHead();
            response.end(body);
          },
        },
        slicer: new TimeSlicer(),
      }),
    ).start();
    try {
      const { body } = await writing.ask('/');
      answer = { log: 'short' };
      await writing.ask('/');
      expect(waiting).to.deep.equal([body.length]);
    } finally {
      await writing.close();
    }
  });
});

describe('encodedResponse', () => {
  const { signal } = new AbortController();
  const responseOf = (...lines: string[]) => ({
    query: {
      total: lines.length,
      totalRelation: 'eq' as const,
      records: lines.map((log) => ({
        log,
        time: '2026-11-20T10:00:00.000000000Z',
        namespace: 'shop',
        pod: 'cart-0',
        container: 'cart',
        id: '"records":[]',
        highlights: [[0, 1]] as [number, number][],
      })),
      cursor: '"records":[]',
    },
    took: 7,
  });

  it('encodes long lines like short ones', async () => {
    const long = '\u0001"é\u{1f600}'.repeat(100_000);
    for (const answer of [responseOf(), responseOf('x'), responseOf(long, '', long, 'x', long)]) {
      const text = String(await encodedResponse(answer, { slicer: new TimeSlicer(), signal }));
      expect(text).to.equal(`${JSON.stringify(answer)}\n`);
    }
    expect(await encodedResponse({ took: 7 }, { slicer: new TimeSlicer(), signal })).to.equal('{"took":7}\n');
  });

  it('yields to the event loop between two long lines', async () => {
    const answer = responseOf(...Array.from({ length: 6 }, () => '\u0001'.repeat(1 << 20)));
    const done: (string | Buffer)[] = [];
    const encoding = encodedResponse(answer, { slicer: new TimeSlicer(), signal }).then((text) =>
      done.push(text),
    );
    let rounds = 0;
    for (; done.length === 0; rounds++) await nextTurn();
    await encoding;
    expect(rounds).to.be.above(5);
  });

  it('stops when the caller disconnects', async () => {
    const answer = responseOf('x'.repeat(1 << 20), 'y'.repeat(1 << 20));
    const reason = new Error('gone');
    const encoding = encodedResponse(answer, { slicer: new TimeSlicer(), signal: AbortSignal.abort(reason) });
    expect(await encoding.catch((error: unknown) => error)).to.equal(reason);
  });
});
