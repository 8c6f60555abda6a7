// Tests of the reader of pages of pod log lines.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { unfitOptionIn } from '../../../../../../server/logging/store/configuration-errors.ts';
import type { LogPage, PageRequest } from '../../../../../../server/logging/store/log-store.ts';
import { FakeTimers } from '../../../../../support/fake-timers.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { until, untilSteady } from '../../../../../support/until.ts';
import { at, call, everything } from './instants.ts';
import { KubeletLog } from './kubelet-log.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

const newest: PageRequest = { order: 'desc', size: 3, from: 0 };

describe('queries of pod logs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  /** Queries until one read hangs, and then until the time limit. */
  async function lateQuery(store: ReturnType<LogCluster['store']>, request: PageRequest): Promise<LogPage> {
    using timers = new FakeTimers();
    const { timeoutMs } = call;
    cluster.requests.length = 0;
    const page = store.query(everything, request, call);
    await until(() => cluster.requests.length > 1 && cluster.openReads === 1);
    await untilSteady(() => cluster.requests.length);
    await timers.tick(timeoutMs);
    return page;
  }

  for (const order of ['asc', 'desc'] as const) {
    it(`reads only the time windows that a further page needs, across gaps, and keeps the total, ${order}`, async () => {
      const seconds = [1, 2, 3, 3600, 3601, 50_000, 50_001, 50_002, 50_003, 86_000];
      for (const pod of ['a', 'b']) {
        const lines = seconds.map((second) => at(second, `${pod} ${second}`));
        cluster.add('shop', pod, lines);
      }
      const store = cluster.store();
      const seen: string[] = [];
      const requests: number[] = [];
      for (let after: string | undefined = ''; after !== undefined; ) {
        cluster.requests.length = 0;
        const request = { order, size: 4, from: 0, ...(after ? { after } : {}) };
        const page = await store.query(everything, request, call);
        requests.push(cluster.requests.length);
        if (after) expect(cluster.requests[0]?.searchParams.has('sinceTime')).to.equal(true);
        expect(page.total).to.deep.equal({ count: 20, relation: 'eq' });
        expect(page.shortfalls).to.deep.equal([]);
        seen.push(...page.records.map(({ log }) => log));
        after = page.next;
      }
      const all = await store.query(everything, { order, size: 100, from: 0 }, call);
      expect(seen).to.deep.equal(all.records.map(({ log }) => log));
      // At most three windows of two logs, and a request for the first line of each.
      expect(Math.max(...requests)).to.be.at.most(12);
    });
  }

  it('truncates a page of long lines to the memory, reports it, and returns the rest on further pages', async () => {
    for (const pod of ['a', 'b', 'c', 'd']) {
      const lines = Array.from({ length: 15 }, (_, n) => at(n, `${pod} ${n} ${'x'.repeat(100_000)}`));
      cluster.add('shop', pod, lines);
    }
    const store = cluster.store({ memory: 1 << 20, bytesPerContainer: 1 << 26 });
    const seen: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const request = { order: 'desc', size: 50, from: 0, ...(after ? { after } : {}) } as const;
      const page = await store.query(everything, request, call);
      expect(page.records.reduce((sum, { log }) => sum + log.length, 0)).to.be.at.most(1.2 * (1 << 20));
      if (after === '') expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Limit']);
      seen.push(...page.records.map(({ log }) => log.slice(0, 5)));
      after = page.next;
    }
    expect(seen).to.have.length(60);
    expect(new Set(seen).size).to.equal(60);
  });

  for (const order of ['asc', 'desc'] as const) {
    it(`skips more lines than the memory holds, ${order}`, async () => {
      for (const pod of ['a', 'b']) {
        const lines = Array.from({ length: 30 }, (_, n) => at(n, `${pod} ${n} ${'x'.repeat(40_000)}`));
        cluster.add('shop', pod, lines);
      }
      const store = cluster.store({ memory: 4 << 20, bytesPerContainer: 1 << 26 });
      const wanted = Array.from({ length: 60 }, (_, n) => `${n % 2 ? 'b' : 'a'} ${Math.floor(n / 2)}`);
      if (order === 'desc') wanted.reverse();
      const page = await store.query(everything, { order, size: 5, from: 41 }, call);
      const named = ({ records }: LogPage) => records.map(({ log }) => log.replace(/ x+$/, ''));
      expect(named(page)).to.deep.equal(wanted.slice(41, 46));
      expect(page.total).to.deep.equal({ count: 60, relation: 'eq' });
      expect(page.shortfalls).to.deep.equal([]);
      const rest = await store.query(everything, { order, size: 5, from: 0, after: page.next ?? '' }, call);
      expect(named(rest)).to.deep.equal(wanted.slice(46, 51));
      const behind = await store.query(everything, { order, size: 5, from: 100 }, call);
      expect(behind).to.deep.include({ records: [], next: undefined, shortfalls: [] });
      expect(behind.total).to.deep.equal({ count: 60, relation: 'eq' });
    });
  }

  it('reads running containers first above the limit, names others, and returns a lower bound as the total', async () => {
    for (let n = 0; n < 3_000; n++) {
      const state = n % 1_000 === 999 ? 'running' : 'terminated';
      cluster.add('shop', `p${String(n).padStart(4, '0')}`, [at(n)], { state, startedAt: at(n).time });
    }
    const page = await cluster.store({ maxContainers: 4 }).query(everything, { ...newest, size: 9 }, call);
    expect(page.records.map(({ pod }) => pod)).to.deep.equal(['p2999', 'p1999', 'p0999', 'p0000']);
    expect(page.total).to.deep.equal({ count: 4, relation: 'gte' });
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Limit']);
    expect(page.shortfalls[0]?.message).to.match(
      /^2996 logs .* fewer: (shop\/p\d+\/app,? ){5}and 2991 more$/,
    );
  });

  it('reports a silent watch of pods until the next event', async () => {
    let now = 0;
    cluster.add('shop', 'a', [at(1)]);
    const store = cluster.store({}, { monotonic: () => now });
    expect((await store.query(everything, newest, call)).shortfalls).to.deep.equal([]);
    now = 200_000;
    const page = await store.query(everything, newest, call);
    expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
    expect(page.shortfalls).to.deep.equal([
      { reason: 'NotCovered', message: 'pods that were created in the last 200 s can be missing' },
    ]);
    cluster.add('shop', 'b', [at(2)]);
    for (let count = 1; count < 2; ) ({ count } = (await store.query(everything, newest, call)).total);
    expect((await store.query(everything, newest, call)).shortfalls).to.deep.equal([]);
  });

  it('limits the concurrent reads of all queries', async () => {
    for (let n = 0; n < 12; n++) cluster.add('shop', `p${n}`, [at(n)]);
    const store = cluster.store({ concurrentReads: 3 });
    await Promise.all(Array.from({ length: 4 }, () => store.query(everything, newest, call)));
    expect(cluster.requests).to.have.length(48);
    expect(cluster.mostReads).to.be.at.most(3);
  });

  it('reads the oldest lines of the time range if the newest lines of the log are behind it', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => at(n, `${n} ${'x'.repeat(100)}`));
    cluster.add('shop', 'a', lines);
    // 64 KiB are about 450 lines.
    const store = cluster.store({ bytesPerContainer: 64 << 10 });
    const range = { start: at(0).time, end: at(1_000).time };
    const page = await store.query({ ...everything, range }, { ...newest, order: 'asc' }, call);
    expect(page.records.map(({ log }) => log.split(' ')[0])).to.deep.equal(['0', '1', '2']);
    expect(page.total.count).to.be.within(400, 999);
    expect(page.total.relation).to.equal('gte');
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Limit']);
    expect(page.shortfalls[0]?.message).to.include('oldest');
  });

  it('returns the lines of the other logs when a kubelet fails midway', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b', [at(2)]);
    const cut = `${at(3).time} half\n${at(4).time} cut he`;
    cluster.disturb = ({ pathname }, response) =>
      pathname.includes('/b/') && response.writeHead(200).write(cut, () => response.destroy());
    const page = await cluster.store().query(everything, newest, call);
    expect(page.records.map(({ log }) => log)).to.deep.equal(['half', 'line 1']);
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['NotCovered']);
    expect(page.total.relation).to.equal('gte');
  });

  for (const order of ['asc', 'desc'] as const) {
    it(`returns each line of equal times that are out of order, ${order}`, async () => {
      cluster.add('shop', 'a', [at(1, 'a'), at(2, 'c'), at(1, 'b'), at(2, 'd'), at(3, 'e')]);
      const store = cluster.store();
      for (const size of [1, 2, 3, 9]) {
        const seen: string[] = [];
        let after: string | undefined;
        do {
          const page = await store.query(everything, { order, size, from: 0, after }, call);
          seen.push(...page.records.map(({ log }) => log));
          after = page.next;
        } while (after !== undefined);
        expect(seen.toSorted(), String(size)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
      }
    });
  }

  it('returns lines that are up to two seconds out of order, and none after the end of the range', async () => {
    cluster.add('shop', 'a', [at(1), at(5), at(3), at(4), at(2), at(6), at(9), at(3, 'much too late')]);
    const range = { ...everything.range, end: at(4).time };
    const page = await cluster.store().query({ ...everything, range }, { ...newest, order: 'asc' }, call);
    expect(page.records.map(({ log }) => log)).to.deep.equal(['line 1', 'line 2', 'line 3']);
    expect(page.total).to.deep.equal({ count: 3, relation: 'eq' });
  });

  it('returns the lines behind a line in the future, of a clock that was ahead', async () => {
    cluster.add('shop', 'a', [at(1), at(2), at(80_000, 'future'), at(3), at(4), at(90_000, 'future'), at(5)]);
    const range = { ...everything.range, end: at(60).time };
    const wallClock = (): number => Date.parse(at(60).time);
    for (const order of ['asc', 'desc'] as const) {
      const store = cluster.store({}, { wallClock });
      const page = await store.query({ ...everything, range }, { order, size: 9, from: 0 }, call);
      expect(page.records.map(({ log }) => log).toSorted()).to.deep.equal(
        [1, 2, 3, 4, 5].map((n) => `line ${n}`),
      );
      expect(page.total).to.deep.equal({ count: 5, relation: 'eq' });
    }
  });

  it('returns the lines that were found before the time limit', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('shop', 'b', [at(2)]);
    const store = cluster.store();
    await store.query(everything, newest, call);
    cluster.disturb = ({ pathname }, response) =>
      pathname.includes('/b/') && response.writeHead(200).write(`${at(3).time} one\n`);
    const page = await lateQuery(store, newest);
    expect(page.records.map(({ log }) => log)).to.deep.equal(['one', 'line 1']);
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
  });

  it('returns 503 when all requests fail, although some logs need no request', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.add('bank', 'b', [at(1)], { state: 'terminated' });
    const namespaces = [
      { name: 'bank', since: at(3_600).time },
      { name: 'shop', since: at(0).time },
    ];
    const selection = { ...everything, scope: { everything: false, namespaces } } as const;
    const store = cluster.store();
    expect((await store.query(selection, newest, call)).total.count).to.equal(1);
    await cluster.goAway();
    expect(await rejection(store.query(selection, newest, call))).to.include({ code: 503 });
  });

  it('returns 503 while listing pods is forbidden, and recovers', async () => {
    cluster.add('shop', 'a', [at(1)]);
    cluster.hidesPods = true;
    const store = cluster.store();
    const found = () => store.query(everything, newest, call).then(({ total }) => total.count);
    expect(await rejection(found())).to.include({ code: 503 });
    cluster.hidesPods = false;
    await until(() =>
      found()
        .then((count) => count === 1)
        .catch(() => false),
    );
  });

  it('need permissions that the health check names, with the manifest that grants them', async () => {
    const store = cluster.store();
    await store.check(call);
    cluster.hidesLogs = true;
    const unfit = unfitOptionIn(await rejection(store.check(call)));
    expect(unfit?.reason).to.match(/is not allowed to get pods\/log .* manifests\/access\/pod-logs.yaml/);
  });

  it('parses timestamps in the time zone of the node, and with fewer digits', async () => {
    cluster.add('shop', 'a', [
      { time: '2026-01-01T02:00:00.500000000+02:00', text: 'zone' },
      { time: '2026-01-01T00:00:01Z', text: 'short' },
    ]);
    const page = await cluster.store().query(everything, { ...newest, order: 'asc' }, call);
    expect(page.records.map(({ time }) => time)).to.deep.equal([
      '2026-01-01T00:00:00.500000000Z',
      '2026-01-01T00:00:01.000000000Z',
    ]);
  });

  for (const order of ['asc', 'desc'] as const) {
    it(`has no gaps or duplicates when a container restarts between two pages, ${order}`, async () => {
      const lines = Array.from({ length: 6 }, (_, n) => at(5, `line ${n}`, '000000007'));
      const log = cluster.add('shop', 'a', lines);
      const store = cluster.store();
      const first = await store.query(everything, { order, size: 3, from: 0 }, call);
      cluster.add('shop', 'a', [at(9, 'next run')], { restarts: 1, previous: log });
      // Until the watch has reported the restart.
      const request = { order, size: 10, from: 0 } as const;
      for (let count = 6; count < 7; ) count = (await store.query(everything, request, call)).total.count;
      const rest = await store.query(everything, { ...request, after: first.next ?? '' }, call);
      const seen = [...first.records, ...rest.records].map((record) => record.log);
      const wanted = lines.map(({ text }) => text);
      expect(seen).to.deep.equal(order === 'asc' ? [...wanted, 'next run'] : wanted.toReversed());
    });
  }

  it('reports a container that restarts while its log is read', async () => {
    cluster.add('shop', 'a', [at(1)]);
    const store = cluster.store();
    await store.query(everything, newest, call);
    const { promise: requested, resolve } = Promise.withResolvers<ServerResponse>();
    cluster.disturb = (_, response) => resolve(response);
    const query = store.query(everything, newest, call);
    const response = await requested;
    cluster.disturb = () => false;
    cluster.add('shop', 'a', [at(2)], { restarts: 1, previous: new KubeletLog([at(1)]) });
    // Until the watch has reported the restart.
    for (let count = 1; count < 2; ) count = (await store.statistics(everything, call)).containers;
    response.writeHead(200).end(`${at(1).time} line 1\n`);
    const { shortfalls } = await query;
    expect(shortfalls.map(({ message }) => message)).to.deep.equal([
      '1 log possibly not read to the end, because the container restarted: shop/a/app',
    ]);
  });

  it('reports the time limit between two windows', async () => {
    cluster.add('shop', 'a', [at(1), at(86_399)]);
    const store = cluster.store();
    cluster.disturb = ({ searchParams }) => (searchParams.get('sinceTime') ?? '').includes('T23:4');
    const request = { order: 'desc', size: 5, from: 0, uncounted: true } as const;
    const page = await lateQuery(store, request);
    expect(page.records.map(({ log }) => log)).to.deep.equal(['line 86399']);
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
  });
});
