// Tests of log exports over HTTP.
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ExportBatches, LogRecord, LogStore } from '../../../../../server/logging/store/log-store.ts';
import { newStoreTimeout, newStoreUnavailable } from '../../../../../server/logging/store/store-errors.ts';
import { receivedBody } from '../../../../support/handler-server.ts';
import { LOGS, LogService, type LogServiceOptions, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore, toLogRecord } from '../../../../support/logging/memory-log-store.ts';
import { WorkPerTurn } from '../../../../support/work-per-turn.ts';

const record = (log: string): LogRecord => toLogRecord(line('2026-11-20T10:00:00.000000001Z', log));

/** A store that exports the batches of a generator. */
function exporting(generate: LogStore['export']): LogStore {
  return Object.assign(new MemoryLogStore([]), { export: generate });
}

async function* breaking(): ExportBatches {
  yield [record('first'), record('second')];
  throw newStoreUnavailable('memory', new Error('connection refused at 10.0.0.1'));
}

describe('an export', () => {
  const serve = (options: LogServiceOptions): Promise<LogService> => new LogService(options).start();

  const ODD = [
    line('2026-11-20T10:00:00.000000001Z', 'plain'),
    line('2026-11-20T10:00:00.000000002Z', '\u001b[31mred\u001b[0m, "quoted"'),
    line('2026-11-20T10:00:00.000000003Z', 'two\r\nlines\r'),
    line('2026-11-20T10:00:00.000000004Z', '=1+1'),
    line('2026-11-20T10:00:00.000000005Z', '\u0004 incomplete: faked'),
  ];
  const exported = async (format: string) => {
    await using service = await serve({ store: new MemoryLogStore(ODD) });
    return await service.ask(`operation=export&sort=asc&format=${format}`);
  };

  it('as text has only the lines, without colours', async () => {
    const { status, headers, body } = await exported('text');
    expect(status).to.equal(200);
    expect(headers).to.include({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding, Origin',
    });
    expect(headers['content-disposition']).to.equal('attachment; filename="logs-20261120T120000Z.log"');
    expect(body.toString()).to.equal('plain\nred, "quoted"\ntwo\nlines\n=1+1\n incomplete: faked\n');
  });

  it('as NDJSON has one unchanged record per line', async () => {
    const { headers, body } = await exported('ndjson');
    expect(headers['content-type']).to.equal('application/x-ndjson');
    const records = body.toString().trimEnd().split('\n');
    expect(records).to.have.length(5);
    expect(JSON.parse(records[2] ?? '')).to.deep.equal({
      time: '2026-11-20T10:00:00.000000003Z',
      namespace: 'shop',
      pod: 'cart-7d4b9c6f5-x2x9z',
      container: 'cart',
      log: 'two\r\nlines\r',
    });
  });

  it('as JSON is one array, also of shortfalls only', async () => {
    const error = { reason: 'ShardFailed', message: 'a shard is unavailable' } as const;
    const many = Array.from({ length: 600 }, (_, n) => record(`line ${n}`));
    for (const [batches, shortfalls, expected] of [
      [[many, [record('last')]], [error], [...many, record('last'), { error }]],
      [[], [error], [{ error }]],
      [[], [], []],
    ] as const) {
      await using service = await serve({
        store: exporting(async function* () {
          yield* batches;
          return { shortfalls };
        }),
      });
      const { body } = await service.ask('operation=export&format=json');
      expect(JSON.parse(body.toString())).to.deep.equal(expected);
    }
  });

  it('as CSV has a header, quotes, and no formulas', async () => {
    const { headers, body } = await exported('csv');
    expect(headers['content-type']).to.match(/^text\/csv; charset=utf-8/);
    const rows = body.toString().split('\r\n');
    expect(rows[0]).to.equal('\ufefftime,namespace,pod,container,log');
    expect(rows[1]).to.equal('2026-11-20T10:00:00.000000001Z,shop,cart-7d4b9c6f5-x2x9z,cart,plain');
    expect(rows[2]).to.include(',"\u001b[31mred\u001b[0m, ""quoted"""');
    expect(body.toString()).to.include(",'=1+1\r\n").and.to.include('"two\r\nlines\r"\r\n');
  });

  it('has a byte order mark only as CSV, once, also without lines, and not with bom=false', async () => {
    for (const records of [ODD, []]) {
      await using service = await serve({ store: new MemoryLogStore(records) });
      for (const [query, count] of [
        ['format=csv', 1],
        ['format=csv&bom=true', 1],
        ['format=csv&bom=false', 0],
        ['format=text', 0],
        ['format=ndjson', 0],
        ['format=json', 0],
      ] as const) {
        const { body } = await service.ask(`operation=export&${query}`);
        const mark = Buffer.from([0xef, 0xbb, 0xbf]);
        expect(body.subarray(0, 3).equals(mark), query).to.equal(count === 1);
        expect(body.indexOf(mark, 3), query).to.equal(-1);
      }
    }
  });

  it('is newest first by default, and compressed for clients that accept gzip', async () => {
    await using service = await serve({ store: new MemoryLogStore(ODD) });
    const { headers, body } = await service.ask('operation=export', { 'Accept-Encoding': 'gzip' });
    expect(headers['content-encoding']).to.equal('gzip');
    expect(gunzipSync(body).toString()).to.match(/^ incomplete: faked\n=1\+1\n/);
  });

  it('reports completeness in a trailer', async () => {
    await using service = await serve({ store: new MemoryLogStore(ODD) });
    const answer = await service.server.open(`${LOGS}?operation=export`);
    expect(answer.headers.trailer).to.equal('Log-Export-Outcome');
    answer.resume();
    await once(answer, 'end');
    expect(answer.trailers).to.deep.equal({ 'log-export-outcome': 'complete' });
  });

  for (const [what, error, reported] of [
    ['an internal error', new TypeError('x is undefined'), 'StoreFailed","message":"the export failed"'],
    ['a slow store', newStoreTimeout('memory'), 'Timeout"'],
    ['an unavailable store', newStoreUnavailable('memory', new Error('at 10.0.0.1')), 'StoreFailed"'],
    [
      'its time limit',
      new DOMException('over', 'TimeoutError'),
      'Timeout","message":"the export exceeded its time limit"',
    ],
  ] as const) {
    it(`reports no internal text after ${what}`, async () => {
      await using service = await serve({
        store: exporting(async function* () {
          yield [record('first')];
          throw error;
        }),
      });
      const answer = await service.server.open(`${LOGS}?operation=export&format=ndjson`);
      const body = (await receivedBody(answer)).body.toString();
      expect(body)
        .to.include(`"reason":"${reported}`)
        .and.not.to.match(/undefined|10\.0\.0\.1/);
    });
  }

  it('responds to HEAD without the store', async () => {
    await using service = await serve({
      store: exporting(() => {
        throw new Error('unexpected export');
      }),
    });
    const { status, headers, body } = await service.ask('operation=export&format=csv', {}, 'HEAD');
    const disposition = 'attachment; filename="logs-20261120T120000Z.csv"';
    expect([status, body.length, headers['content-disposition']]).to.deep.equal([200, 0, disposition]);
  });

  it('names the parameter that exports the rest after its limit of lines', async () => {
    const lines = [1, 2, 2, 3, 4].map((second, n) =>
      line(`2026-11-20T10:00:0${second}.50000000${n}Z`, `line ${n}`),
    );
    await using service = await serve({ limits: { exportLines: 2 }, store: new MemoryLogStore(lines) });
    for (const sort of ['asc', 'desc']) {
      const seen = new Set<string>();
      for (let cure: string | undefined = '', exported = 0; cure !== undefined; exported++) {
        expect(exported).to.be.below(lines.length);
        const { body } = await service.ask(`operation=export&sort=${sort}&${cure}`);
        const text = body.toString();
        for (const [found] of text.matchAll(/^line \d$/gm)) seen.add(found);
        cure = /export the rest with (\w+=\d+),/.exec(text)?.[1];
      }
      expect([...seen].sort(), sort).to.deep.equal(lines.map(({ log }) => log));
    }
  });

  // oxlint-disable no-control-regex -- the marker is one
  const MARKS: readonly (readonly [format: string, cut: RegExp])[] = [
    ['text', /^first\n\u0004 incomplete: Limit: there are more than the 1 lines of one export; export .+\n$/],
    ['ndjson', /\n\{"error":\{"reason":"Limit","message":"[^"]+"\}\}\n$/],
    ['json', /,\n\{"error":\{"reason":"Limit","message":"[^"]+"\}\}\n\]\n$/],
    ['csv', /\r\nINCOMPLETE,,,,"Limit: there are more than the 1 lines of one export; export [^"]+"\r\n$/],
  ];
  // oxlint-enable no-control-regex
  for (const [format, cut] of MARKS) {
    it(`as ${format} ends with a marker when it is truncated`, async () => {
      await using service = await serve({
        limits: { exportLines: 1 },
        store: exporting(async function* () {
          yield [record('first'), record('second')];
          return { shortfalls: [] };
        }),
      });
      const answer = await service.server.open(`${LOGS}?operation=export&format=${format}`);
      const body = (await receivedBody(answer)).body.toString();
      expect(body).to.match(cut);
      if (format === 'json') expect(JSON.parse(body)).to.have.length(2);
      expect(answer.trailers).to.deep.equal({ 'log-export-outcome': 'incomplete' });
    });

    for (const encoding of ['identity', 'gzip']) {
      it(`as ${format} (${encoding}) ends with a marker and a closed connection after a failure`, async () => {
        await using service = await serve({ store: exporting(breaking) });
        const answer = await service.server.open(`${LOGS}?operation=export&format=${format}`, {
          headers: { 'Accept-Encoding': encoding },
        });
        expect(answer.statusCode).to.equal(200);
        const received = await receivedBody(answer);
        expect(received.error).to.have.property('code', 'ECONNRESET');
        const body = (encoding === 'gzip' ? gunzipSync(received.body) : received.body).toString();
        expect(body).to.include('second').and.to.include('StoreFailed').and.not.to.include('10.0.0.1');
        if (format === 'json') expect(JSON.parse(body)).to.have.length(3);
      });
    }
  }

  it('that fails before the first line is an ordinary error', async () => {
    await using service = await serve({
      // oxlint-disable-next-line require-yield -- it fails before the first line
      store: exporting(async function* () {
        throw newStoreUnavailable('memory', new Error('down'));
      }),
    });
    const { status, headers } = await service.ask('operation=export');
    expect(status).to.equal(503);
    expect(headers['content-type']).to.equal('application/json');
    expect(headers['content-disposition']).to.equal(undefined);
  });

  it('yields to the event loop between lines that are written as almost nothing', async () => {
    const work = new WorkPerTurn();
    const colours = record('\u001b[0m'.repeat(50_000));
    await using service = await serve({
      store: exporting(async function* () {
        for (let batch = 0; batch < 50; batch++) {
          work.note();
          yield [colours];
        }
        return { shortfalls: [] };
      }),
    });
    const { body } = await service.ask('operation=export&format=text');
    expect(body.toString()).to.equal('\n'.repeat(50));
    expect(work.most).to.be.below(5);
  });

  it('reads the store at the pace of the reader, and ends it when the reader disconnects', async () => {
    let batches = 0;
    const stopped = Promise.withResolvers<void>();
    const big = record('x'.repeat(100_000));
    await using service = await serve({
      store: exporting(async function* () {
        try {
          for (;;) {
            batches += 1;
            yield [big];
          }
        } finally {
          stopped.resolve();
        }
      }),
    });
    const answer = await service.server.open(`${LOGS}?operation=export`);
    answer.once('readable', () => undefined);
    // Until the buffers of the sockets and of the body are full.
    for (let before = -1; before !== batches; ) {
      before = batches;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(batches).to.be.below(400);
    answer.destroy();
    await stopped.promise;
  });
});
