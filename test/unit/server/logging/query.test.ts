// Tests of log queries over HTTP, with a log store in memory.
import { expect } from 'chai';
import { array, record, text } from '../../../../apis/reading/unknown-value.ts';
import { newStoreUnavailable } from '../../../../server/logging/store/store-errors.ts';
import { LOGS, LogService, line, recordsIn } from '../../../support/logging/log-service.ts';
import { MemoryLogStore, toLogRecord } from '../../../support/logging/memory-log-store.ts';

const RECORDS = [
  line('2026-11-20T10:00:00.000000001Z', 'request timeout of cart'),
  line('2026-11-20T10:00:00.000000001Z', 'same time, other line'),
  line('2026-11-20T10:00:01.500000000Z', 'level=error disk is full', { pod: 'db-0', container: 'db' }),
  line('2026-11-20T10:20:00.000000000Z', 'all is well', {
    namespace: 'bank',
    pod: 'ledger-0',
    container: 'app',
  }),
];

describe('log queries', () => {
  let service: LogService;
  beforeEach(async () => {
    // Constant `took`, so that responses can be compared.
    service = await new LogService({ store: new MemoryLogStore(RECORDS), monotonic: () => 0 }).start();
  });
  afterEach(() => service.stop());

  const lines = (query: string) => service.lines(query);
  const cursorOf = async (of: LogService): Promise<string> =>
    text(record((await of.json('size=1'))['query'])['cursor']);

  it('return the newest lines in the form that consoles expect', async () => {
    const { query, took } = await service.json('size=1');
    expect(took).to.be.a('number');
    const { records, cursor, ...rest } = record(query);
    expect(rest).to.deep.equal({ total: 4, totalRelation: 'eq' });
    expect(cursor).to.be.a('string');
    const { id, ...plain } = record(array(records)[0]);
    expect(id).to.be.a('string');
    expect(plain).to.deep.equal({
      log: 'all is well',
      time: '2026-11-20T10:20:00.000000000Z',
      namespace: 'bank',
      pod: 'ledger-0',
      container: 'app',
    });
  });

  it('name the namespaces that a caller without permission in the whole cluster may read', async () => {
    const names = Array.from({ length: 22 }, (_, i) => `team-${String(i).padStart(2, '0')}`);
    const namespaces = Object.fromEntries(
      [...names, 'bank'].map((name) => [name, '2026-11-20T00:00:00Z'] as const),
    );
    await using limited = await new LogService({
      store: new MemoryLogStore(RECORDS),
      namespaces,
      allowed: (namespace) => namespace.startsWith('team-'),
    }).start();
    const scopeOf = async (query: string) => record((await limited.json(query))['query'])['scope'];
    expect(await scopeOf('')).to.deep.equal({ total: 22, namespaces: names.slice(0, 20) });
    expect(await scopeOf('namespaces=bank,team-01')).to.deep.equal({ total: 1, namespaces: ['team-01'] });
    expect(await scopeOf('namespaces=bank')).to.deep.equal({ total: 0, namespaces: [] });
  });

  it('apply every filter', async () => {
    expect(await lines('namespaces=bank')).to.deep.equal(['all is well']);
    expect(await lines('namespace_query=AN')).to.deep.equal(['all is well']);
    expect(await lines('workloads=db')).to.deep.equal(['level=error disk is full']);
    expect(await lines('workload_query=edge')).to.deep.equal(['all is well']);
    expect(await lines('pods=db-0&containers=db')).to.have.length(1);
    expect(await lines('level=error')).to.deep.equal(['level=error disk is full']);
    expect(await lines('log_query=TIME')).to.have.length(2);
    expect(await lines('log_query=time&match=phrase')).to.deep.equal(['same time, other line']);
    expect(await lines('log_query=TIME&case=respect')).to.have.length(0);
    expect(await lines('log_query=--,timeout,%20!')).to.deep.equal(['request timeout of cart']);
    expect(await lines('log_query=imeou&match=substring')).to.have.length(1);
    expect(await lines('log_query=%5Ereq.%2Bcart%24&match=regex')).to.have.length(1);
  });

  it('include the last second of the range', async () => {
    const at = Date.parse('2026-11-20T10:00:00Z') / 1000;
    expect(await lines(`start_time=${at}&end_time=${at}`)).to.have.length(2);
    expect(await lines(`start_time=${at}&end_time=${at + 1}`)).to.have.length(3);
    expect(await lines(`start_time=${at + 2}`)).to.deep.equal(['all is well']);
  });

  it('continue by cursor through equal times while new lines arrive', async () => {
    const store = new MemoryLogStore(RECORDS);
    await using paged = await new LogService({ store }).start();
    const seen: unknown[] = [];
    for await (const page of paged.pages('sort=asc&size=1')) {
      seen.push(...recordsIn(page).map(({ log }) => log));
      // After the range of the first page.
      store.write([line('2026-11-20T12:30:00.000000000Z', 'came meanwhile')]);
    }
    expect(seen).to.deep.equal(RECORDS.map(({ log }) => log));
  });

  it('report an invalid cursor and id with all other validation errors', async () => {
    for (const parameter of ['cursor', 'context']) {
      const { status, body } = await service.ask(`${parameter}=made-up&size=1001&siez=1`);
      expect(status).to.equal(400);
      const { causes } = record(record(JSON.parse(body.toString()))['details']);
      const fields = array(causes).map((cause) => record(cause)['field']);
      expect(fields).to.have.members([parameter, 'size', 'siez']);
    }
  });

  it('reject a cursor with an invalid range', async () => {
    const parts = JSON.parse(Buffer.from(await cursorOf(service), 'base64url').toString()) as unknown[];
    for (const [start, end] of [
      ['0000-01-01T00:00:00.000000000Z', parts[3]],
      ['1969-12-31T23:59:59.999999999Z', parts[3]],
      [parts[2], '9999-12-31T23:59:59.999999999Z'],
      [parts[3], parts[2]],
    ]) {
      const forged = JSON.stringify([parts[0], parts[1], start, end, parts[4]]);
      const cursor = Buffer.from(forged).toString('base64url');
      const { status, body } = await service.ask(`size=1&cursor=${cursor}`);
      expect(status, `${String(start)} to ${String(end)}`).to.equal(400);
      expect(body.toString()).to.include('is not a cursor');
    }
  });

  it('reject a cursor of another caller', async () => {
    const jane = { name: 'jane', uid: '', groups: [], extra: {} };
    await using hers = await new LogService({ store: new MemoryLogStore(RECORDS), user: jane }).start();
    const cursor = await cursorOf(hers);
    expect((await hers.ask(`cursor=${cursor}`)).status).to.equal(200);
    const answer = await service.ask(`cursor=${cursor}`);
    expect(answer.status).to.equal(400);
    expect(answer.body.toString()).to.include('belongs to another query or another caller');
  });

  it('count lines and containers', async () => {
    expect((await service.json('operation=statistics'))['statistics']).to.deep.equal({
      containers: 3,
      logs: 4,
      logsRelation: 'eq',
    });
  });

  it('count lines by time, from the first line without start_time', async () => {
    const { histogram } = await service.json('operation=histogram&interval=10m&end_time=1795170599');
    const at = Date.parse('2026-11-20T10:00:00Z');
    expect(histogram).to.deep.equal({
      total: 4,
      totalRelation: 'eq',
      histograms: [
        { time: at, count: 3 },
        { time: at + 600_000, count: 0 },
        { time: at + 1_200_000, count: 1 },
      ],
    });
  });

  it('count the lines of each bucket by severity', async () => {
    const { histogram } = await service.json(
      'operation=histogram&interval=10m&end_time=1795170599&severity=true',
    );
    const none = { fatal: 0, error: 0, warn: 0, info: 0, debug: 0, none: 0 };
    const buckets = array(record(histogram)['histograms']).map((each) => record(each)['severities']);
    expect(buckets).to.deep.equal([{ ...none, error: 1, none: 2 }, none, { ...none, none: 1 }]);
  });

  it('report the shortfalls of the search for the first line of a histogram', async () => {
    const late = { reason: 'Timeout', message: 'not everything' } as const;
    const lost = { reason: 'ShardFailed', message: '1 of 5 shards' } as const;
    const total = { count: 1, relation: 'gte' } as const;
    for (const [records, shortfalls] of [
      [[], [late]],
      [[toLogRecord(line('2026-11-20T11:59:00.000000000Z', 'one'))], [late, lost]],
    ]) {
      const store = Object.assign(new MemoryLogStore([]), {
        query: async () => ({ total, records, next: undefined, shortfalls: [late] }),
        histogram: async () => ({
          total: { ...total, relation: 'eq' },
          counts: [1],
          shortfalls: [late, lost],
        }),
      });
      await using partly = await new LogService({ store }).start();
      const answer = await partly.json('operation=histogram');
      expect(answer['partial']).to.deep.equal(shortfalls);
      expect(answer['histogram']).to.include({ totalRelation: 'gte' });
    }
  });

  it('reject a histogram with too many buckets without the store', async () => {
    const answer = await service.ask('operation=histogram&interval=1s&start_time=1795100000');
    expect(answer.status).to.equal(400);
    expect(answer.body.toString()).to.include('interval: 1s makes more than 100 buckets');
  });

  it('return the headers of GET for HEAD', async () => {
    const get = await service.ask('size=2');
    const head = await service.ask('size=2', {}, 'HEAD');
    expect(head.status).to.equal(200);
    expect(head.body).to.have.length(0);
    expect(head.headers['content-length']).to.equal(get.headers['content-length']);
    expect(get.headers['cache-control']).to.equal('no-store');
  });

  it('reject other methods and paths below', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await service.ask('', {}, method);
      expect(answer.status, method).to.equal(405);
      expect(answer.headers.allow).to.equal('GET, HEAD');
    }
    expect((await service.server.ask('/kapis/logging.platform.io/v1alpha2/logs/x')).status).to.equal(404);
  });

  it('distinguish partial results, an unavailable store, and no lines', async () => {
    const shortfalls = [{ reason: 'ShardFailed', message: 'one of 5 shards' }] as const;
    const page = { total: { count: 1, relation: 'gte' }, records: [], next: undefined, shortfalls } as const;
    await using partly = await new LogService({
      store: Object.assign(new MemoryLogStore([]), { query: () => Promise.resolve(page) }),
    }).start();
    const answer = await partly.json('');
    expect(answer['partial']).to.deep.equal(shortfalls);
    expect(answer['query']).to.deep.include({ total: 1, totalRelation: 'gte' });
    await using down = await new LogService({
      store: Object.assign(new MemoryLogStore([]), {
        query: () => Promise.reject(newStoreUnavailable('memory', new Error('secret'))),
      }),
    }).start();
    const refused = await down.ask('');
    expect(refused.status).to.equal(503);
    expect(refused.body.toString()).not.to.include('secret');
  });

  it('are limited in time, even if the store ignores its limit', async () => {
    const store = Object.assign(new MemoryLogStore([]), {
      query: (_selection: unknown, _page: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    });
    await using slow = await new LogService({ store, limits: { queryTimeout: 100 } }).start();
    expect((await slow.ask('')).status).to.equal(504);
  });

  it('are queued, and rejected beyond the limit of the queue', async () => {
    const [entered, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    class HeldStore extends MemoryLogStore {
      override async query(...parameters: Parameters<MemoryLogStore['query']>) {
        entered.resolve();
        await left.promise;
        return super.query(...parameters);
      }
    }
    const limits = { concurrentQueries: 1, queuedQueries: 0, concurrentExports: 1, concurrentFollowers: 1 };
    await using busy = await new LogService({ store: new HeldStore([]), limits }).start();
    const first = busy.ask('');
    await entered.promise;
    // The record ID is valid.
    const { id } = (await service.records('size=1'))[0] ?? {};
    for (const query of ['', 'operation=statistics', 'operation=histogram', `context=${text(id)}`]) {
      const refused = await busy.json(query);
      expect(refused, query).to.include({ code: 429 });
      expect(refused).to.have.nested.property('details.retryAfterSeconds', 1);
    }
    // Exports and live tails have limits of their own.
    expect((await busy.ask('operation=export')).status).to.equal(200);
    const tail = await busy.server.open(`${LOGS}?follow=true`);
    expect(tail.statusCode).to.equal(200);
    const refused = await busy.json('follow=true');
    expect(refused).to.have.nested.property('details.retryAfterSeconds', 10);
    tail.destroy();
    left.resolve();
    expect((await first).status).to.equal(200);
    const metrics = await busy.registry.metrics();
    expect(metrics).to.include('log_queries_total{operation="query",outcome="limited"} 1');
    expect(metrics).to.include('log_queries_total{operation="query",outcome="ok"} 1');
    expect(metrics).to.include('log_queries_in_flight{operation="query"} 0');
  });
});
