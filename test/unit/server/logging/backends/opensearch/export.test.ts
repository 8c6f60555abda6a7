// Tests of exports from OpenSearch, against a fake node.
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
  it('returns each record once if pages end among records with the same sort key', async () => {
    const lines = LINES.map((line, n) => ({ ...line, key: String(KEY), sequence: Math.floor(n / 150) }));
    await using store = await scriptedStore((request) => searchIn(lines, request));
    expect(await logsOf(storeAt(store.url).export(SELECTION, 'asc', call()))).to.deep.equal(IDS);
  });

  for (const [what, code, fail] of [
    ['fails', 503, (response: ServerResponse) => response.writeHead(500).end('{}')],
    ['does not respond', 504, () => undefined],
  ] as const) {
    it(`fails if the store ${what} midway`, async () => {
      let pages = 0;
      await using store = await scriptedStore((request, response) => {
        if (++pages !== 3) return searchIn(LINES, request);
        fail(response);
        return RESPONDED;
      });
      const batches = storeAt(store.url, { pageMs: 200 }).export(SELECTION, 'asc', call());
      expect(await logsOf(batches).catch((error: unknown) => error)).to.include({ code });
    });
  }

  /** `fail` responds to the third page and the first retries. */
  async function resumed(
    fail: (response: ServerResponse, request: ScriptedRequest) => unknown,
    failures: number,
  ) {
    let pages = 0;
    await using store = await scriptedStore((request, response) => {
      pages++;
      return pages > 2 && pages <= 2 + failures ? fail(response, request) : searchIn(LINES, request);
    });
    const batches = storeAt(store.url, { pageSize: 400, pausesMs: [1, 1] }).export(SELECTION, 'asc', call());
    const logs: string[] = [];
    let next = await batches.next();
    for (; !next.done; next = await batches.next()) logs.push(...Array.from(next.value, ({ log }) => log));
    return { logs, missing: next.value.shortfalls.map(({ reason }) => reason) };
  }

  const oneShardFails = (_: ServerResponse, request: ScriptedRequest) =>
    searchIn(LINES.slice(0, 700), request, { _shards: PARTIAL });

  for (const [what, fail] of [
    ['some shards fail', oneShardFails],
    [
      'all shards fail',
      (response: ServerResponse) =>
        refuse(response, 503, 'search_phase_execution_exception', 'all shards failed'),
    ],
    [
      'indices are deleted or created',
      (_: ServerResponse, request: ScriptedRequest) =>
        searchIn(LINES, request, { _shards: { total: 3, successful: 3, skipped: 0, failed: 0 } }),
    ],
    [
      'the store is overloaded',
      (response: ServerResponse) => refuse(response, 429, 'rejected_execution_exception'),
    ],
  ] as const) {
    it(`continues after its last record, each record once, if ${what}`, async () => {
      expect(await resumed(fail, 2)).to.deep.equal({ logs: IDS, missing: [] });
    });
  }

  it('waits for failed shards, then continues without them', async () => {
    expect((await resumed(oneShardFails, Number.POSITIVE_INFINITY)).missing).to.deep.equal(['ShardFailed']);
  });

  it('fails if the store rejects its first page, so that the response has an error status', async () => {
    await using store = await scriptedStore((_, response) =>
      refuse(response, 429, 'rejected_execution_exception'),
    );
    const first = storeAt(store.url).export(SELECTION, 'asc', call()).next();
    expect(await first.catch((error: unknown) => error)).to.include({ code: 503 });
    expect(store.requests).to.have.length(1);
  });

  it('requests fewer records while the store is short of memory', async () => {
    await using store = await scriptedStore((request, response) =>
      Number(request.body['size'] ?? 0) <= 40
        ? searchIn(LINES.slice(0, 200), request)
        : refuse(response, 429, 'circuit_breaking_exception', '[parent] Data too large'),
    );
    expect(await logsOf(storeAt(store.url).export(SELECTION, 'asc', call()))).to.deep.equal(
      IDS.slice(0, 200),
    );
  });
});
