// Tests of exports from OpenSearch and Elasticsearch, against a fake node.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { LogRecord } from '../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import {
  call,
  type Line,
  RESPONDED,
  type ScriptedRequest,
  SELECTION,
  scriptedStore,
  searchIn,
} from './scripted-store.ts';

const KEY = 1_768_471_200_000_000_000n;
const LINES: readonly Line[] = Array.from({ length: 3_000 }, (_, n) => ({
  id: `line-${n}`,
  key: String(KEY + BigInt(Math.floor(n / 7))),
  sequence: n,
}));
const IDS = LINES.map(({ id }) => id);
const PARTIAL = { total: 2, successful: 1, skipped: 0, failed: 1, failures: [] };
const COMPLETE = { total: 2, successful: 2, skipped: 0, failed: 0 };

function refuse(response: ServerResponse, status: number, type: string, reason = 'gone'): typeof RESPONDED {
  response.writeHead(status).end(JSON.stringify({ error: { type, reason }, status }));
  return RESPONDED;
}

async function logsOf(batches: AsyncIterable<Iterable<LogRecord>>): Promise<string[]> {
  const logs: string[] = [];
  for await (const batch of batches) logs.push(...Array.from(batch, ({ log }) => log));
  return logs;
}

describe('an export from OpenSearch', () => {
  function exporting(request: ScriptedRequest, lines = LINES): unknown {
    if (request.path.includes('point_in_time') && request.method === 'POST') return { pit_id: 'first' };
    if (request.method === 'DELETE') return { pits: [] };
    return searchIn(lines, request, { pit_id: 'next' });
  }

  it('returns each record once and closes the latest point in time', async () => {
    await using store = await scriptedStore((request) => exporting(request));
    expect(await logsOf(storeAt(store.url).export(SELECTION, 'asc', call()))).to.deep.equal(IDS);
    const closing = store.requests.at(-1);
    expect(closing).to.include({ method: 'DELETE', path: '/_search/point_in_time' });
    expect(closing?.body).to.deep.equal({ pit_id: ['next'] });
    expect(closing?.headers['content-length']).to.equal(String(closing?.text.length));
  });

  it('returns each record once if pages end among records with the same sort key', async () => {
    const lines = LINES.map((line, n) => ({ ...line, key: String(KEY), sequence: Math.floor(n / 150) }));
    await using store = await scriptedStore((request) => exporting(request, lines));
    expect(await logsOf(storeAt(store.url).export(SELECTION, 'asc', call()))).to.deep.equal(IDS);
  });

  it('keeps a point in time open for 30 s until its first page, and for 5 minutes from then on', async () => {
    await using store = await scriptedStore((request) => exporting(request));
    await logsOf(storeAt(store.url).export(SELECTION, 'asc', call()));
    const opening = store.requests.find(
      ({ method, path }) => method === 'POST' && path.includes('point_in_time'),
    );
    expect(new URL(opening?.path ?? '', store.url).searchParams.get('keep_alive')).to.equal('30s');
    const pages = store.requests.filter(({ path }) => path === '/_search');
    expect(pages.map(({ body }) => body['pit'])).to.deep.equal(
      pages.map((_, n) => ({ id: n === 0 ? 'first' : 'next', keep_alive: '5m' })),
    );
  });

  it('requests no more records than the page size, including repeated ones', async () => {
    await using store = await scriptedStore((request) => exporting(request));
    await logsOf(storeAt(store.url, { pageSize: 100 }).export(SELECTION, 'asc', call()));
    const sizes = store.requests.filter(({ path }) => path === '/_search').map(({ body }) => body['size']);
    expect(Math.max(...sizes.map(Number))).to.equal(100);
  });

  it('closes the point in time if the reader stops or the caller disconnects', async () => {
    await using store = await scriptedStore((request) => exporting(request));
    const stopped = storeAt(store.url).export(SELECTION, 'asc', call());
    await stopped.next();
    await stopped.return({ shortfalls: [] });
    expect(store.requests.at(-1)).to.include({ method: 'DELETE' });
    const leaving = new AbortController();
    const left = storeAt(store.url).export(SELECTION, 'asc', call(30_000, leaving.signal));
    await left.next();
    leaving.abort(new Error('gone'));
    expect(await logsOf(left).catch((error: unknown) => error)).to.have.property('message', 'gone');
    expect(store.requests.filter(({ method }) => method === 'DELETE')).to.have.length(2);
  });

  for (const [what, code, fail] of [
    ['fails', 503, (response: ServerResponse) => response.writeHead(500).end('{}')],
    ['does not respond', 504, () => undefined],
  ] as const) {
    it(`fails and closes the point in time if the store ${what} midway`, async () => {
      let pages = 0;
      await using store = await scriptedStore((request, response) => {
        if (request.path !== '/_search' || ++pages !== 3) return exporting(request);
        fail(response);
        return RESPONDED;
      });
      const batches = storeAt(store.url, { pageMs: 200 }).export(SELECTION, 'asc', call());
      expect(await logsOf(batches).catch((error: unknown) => error)).to.include({ code });
      expect(store.requests.at(-1)).to.include({ method: 'DELETE' });
    });
  }

  /** `fail` responds to the third page of each of the first points in time. */
  async function resumed(
    fail: (response: ServerResponse, request: ScriptedRequest) => unknown,
    failures: number,
    shards: object,
  ) {
    let points = 0;
    const open = new Set<string>();
    const pages = new Map<string, number>();
    await using store = await scriptedStore((request, response) => {
      if (request.method === 'DELETE') {
        open.delete(String((request.body['pit_id'] as string[])[0]));
        return { pits: [] };
      }
      const _shards = points > 1 ? shards : COMPLETE;
      if (request.path.includes('point_in_time')) {
        const id = `point-${++points}`;
        open.add(id);
        return { pit_id: id, _shards: points > 1 ? shards : COMPLETE };
      }
      const { id } = request.body['pit'] as { id: string };
      const page = (pages.get(id) ?? 0) + 1;
      pages.set(id, page);
      return page === 3 && points <= failures
        ? fail(response, request)
        : searchIn(LINES, request, { _shards });
    });
    const batches = storeAt(store.url, { pageSize: 400, pausesMs: [1, 1] }).export(SELECTION, 'asc', call());
    const logs: string[] = [];
    let next = await batches.next();
    for (; !next.done; next = await batches.next()) logs.push(...Array.from(next.value, ({ log }) => log));
    return { logs, points, open: [...open], shortfalls: next.value.shortfalls };
  }

  for (const [what, fail] of [
    [
      'some shards fail',
      (_: ServerResponse, request: ScriptedRequest) =>
        searchIn(LINES.slice(0, 700), request, { _shards: PARTIAL }),
    ],
    [
      'all shards fail',
      (response: ServerResponse) =>
        refuse(response, 503, 'search_phase_execution_exception', 'all shards failed'),
    ],
    [
      'the point in time expires',
      (response: ServerResponse) => refuse(response, 404, 'search_context_missing_exception'),
    ],
    [
      'the store is overloaded',
      (response: ServerResponse) => refuse(response, 429, 'rejected_execution_exception'),
    ],
  ] as const) {
    it(`continues with another point in time, each record once, if ${what}`, async () => {
      expect(await resumed(fail, 2, COMPLETE)).to.deep.equal({
        logs: IDS,
        points: 3,
        open: [],
        shortfalls: [],
      });
    });
  }

  it('waits for failed shards, then continues without them', async () => {
    const fail = (_: ServerResponse, request: ScriptedRequest) =>
      searchIn(LINES.slice(0, 700), request, { _shards: PARTIAL });
    const { points, open, shortfalls } = await resumed(fail, 1, PARTIAL);
    expect({ points, open }).to.deep.equal({ points: 3, open: [] });
    expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['ShardFailed']);
  });

  describe('from Elasticsearch', () => {
    /** `isOld`: without `allow_partial_search_results` for points in time. */
    async function exportedFrom(isOld: boolean) {
      await using store = await scriptedStore((request, response) => {
        const isPartial = request.path.includes('allow_partial_search_results=true');
        if (request.path.includes('point_in_time')) {
          response.writeHead(400, { 'x-elastic-product': 'Elasticsearch' });
          response.end(
            JSON.stringify({ error: `no handler found for uri [${request.path}] and method [POST]` }),
          );
          return RESPONDED;
        }
        if (request.method === 'DELETE') return { succeeded: true };
        if (request.body['pit']) return searchIn([], request, { pit_id: 'next' });
        if (isPartial && !isOld) return { id: 'first', _shards: PARTIAL };
        return isPartial
          ? refuse(response, 400, 'illegal_argument_exception', 'contains unrecognized parameter: [some]')
          : refuse(response, 503, 'search_phase_execution_exception', 'missing shards');
      });
      const result = await storeAt(store.url)
        .export(SELECTION, 'asc', call())
        .next()
        .catch((error: unknown) => error);
      return { result, last: store.requests.at(-1) };
    }

    it('uses its API for points in time, without unavailable shards', async () => {
      const { result, last } = await exportedFrom(false);
      expect(result).to.have.nested.property('value.shortfalls').with.lengthOf(1);
      expect(last).to.include({ method: 'DELETE', path: '/_pit' });
      expect(last?.body).to.deep.equal({ id: 'next' });
    });

    it('fails before 8.16 if a shard is unavailable', async () => {
      const { result } = await exportedFrom(true);
      expect(result).to.include({ code: 503 });
      expect(result).to.have.nested.property('cause.message').that.includes('missing shards');
    });
  });

  it('requests fewer records while the store is short of memory', async () => {
    await using store = await scriptedStore((request, response) =>
      Number(request.body['size'] ?? 0) <= 40
        ? exporting(request, LINES.slice(0, 200))
        : refuse(response, 429, 'circuit_breaking_exception', '[parent] Data too large'),
    );
    expect(await logsOf(storeAt(store.url).export(SELECTION, 'asc', call()))).to.deep.equal(
      IDS.slice(0, 200),
    );
  });
});
