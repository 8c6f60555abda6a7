import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Turns } from '../../../../../server/concurrency/turns.ts';
import { BufferedResponses } from '../../../../../server/endpoints/buffered-responses.ts';
import { writeAnswer } from '../../../../../server/logging/answers/answer-writer.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

describe('an answer to a log query', () => {
  let server: HandlerServer;
  /** More bytes than characters. */
  const long = { log: 'ä'.repeat(100_000) };
  let answer: object;

  beforeEach(async () => {
    answer = long;
    const held = new BufferedResponses({ bytes: 1 << 20, patienceMs: 1_000 });
    server = await new HandlerServer((context) =>
      writeAnswer(context, answer, { held, turns: new Turns() }),
    ).start();
  });
  afterEach(() => server.close());

  const gzip = { headers: { 'Accept-Encoding': 'gzip' } };

  it('is compressed when it is long, for who takes that', async () => {
    const { headers, body } = await server.ask('/', gzip);
    expect(headers).to.include({ 'content-encoding': 'gzip', 'content-length': String(body.length) });
    expect(JSON.parse(gunzipSync(body).toString())).to.deep.equal(long);
  });

  it('is as it stands for who does not, and when it is short', async () => {
    const whole = await server.ask('/');
    expect(whole.headers).not.to.have.property('content-encoding');
    expect(whole.headers['content-length']).to.equal(String(whole.body.length));
    expect(JSON.parse(whole.body.toString())).to.deep.equal(long);
    answer = { log: 'short' };
    const { headers, body } = await server.ask('/', gzip);
    expect(headers).not.to.have.property('content-encoding');
    expect(body.toString()).to.equal('{"log":"short"}\n');
  });

  it('has the same head, and no body, for who asks for the head', async () => {
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

  it('waits for its reader among others that are long, and by itself when it is short', async () => {
    const waiting: number[] = [];
    const writing = await new HandlerServer((context) =>
      writeAnswer(context, answer, {
        held: {
          write: async ({ response }, body, writeHead) => {
            waiting.push(body.length);
            writeHead();
            response.end(body);
          },
        },
        turns: new Turns(),
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
