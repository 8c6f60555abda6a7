// Tests of exports from OpenSearch, against a fake node.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import {
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
const WHOLE = { total: 3, successful: 3, skipped: 0, failed: 0 };

type Fail = (response: ServerResponse, request: ScriptedRequest) => unknown;

function refusing(status: number, type: string, reason = 'gone'): Fail {
  return (response) => {
    response.writeHead(status).end(JSON.stringify({ error: { type, reason }, status }));
    return RESPONDED;
  };
}

describe('an export from OpenSearch', () => {
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
      expect(await rejection(exported(batches))).to.include({ code });
    });
  }

  /** `fail` responds to the third page and the first retries. */
  async function resumed(fail: Fail, failures: number) {
    let pages = 0;
    await using store = await scriptedStore((request, response) => {
      pages++;
      return pages > 2 && pages <= 2 + failures ? fail(response, request) : searchIn(LINES, request);
    });
    const batches = storeAt(store.url, { pageSize: 400, pausesMs: [1, 1] }).export(SELECTION, 'asc', call());
    const { logs, shortfalls } = await exported(batches);
    return { logs, missing: shortfalls.map(({ reason }) => reason) };
  }

  const oneShardFails: Fail = (_, request) => searchIn(LINES.slice(0, 700), request, { _shards: PARTIAL });

  for (const [what, fail] of [
    ['some shards fail', oneShardFails],
    ['all shards fail', refusing(503, 'search_phase_execution_exception', 'all shards failed')],
    ['indices are deleted or created', (_, request) => searchIn(LINES, request, { _shards: WHOLE })],
    ['the store is overloaded', refusing(429, 'rejected_execution_exception')],
  ] as const satisfies readonly (readonly [string, Fail])[]) {
    it(`continues after its last record, each record once, if ${what}`, async () => {
      expect(await resumed(fail, 2)).to.deep.equal({ logs: IDS, missing: [] });
    });
  }

  it('waits for failed shards, then continues without them', async () => {
    expect((await resumed(oneShardFails, Number.POSITIVE_INFINITY)).missing).to.deep.equal(['ShardFailed']);
  });

  it('fails if the store rejects its first page, so that the response has an error status', async () => {
    const refuse = refusing(429, 'rejected_execution_exception');
    await using store = await scriptedStore((request, response) => refuse(response, request));
    const first = storeAt(store.url).export(SELECTION, 'asc', call()).next();
    expect(await rejection(first)).to.include({ code: 503 });
    expect(store.requests).to.have.length(1);
  });

  it('requests fewer records while the store is short of memory', async () => {
    const refuse = refusing(429, 'circuit_breaking_exception', '[parent] Data too large');
    await using store = await scriptedStore((request, response) =>
      Number(request.body['size'] ?? 0) <= 40
        ? searchIn(LINES.slice(0, 200), request)
        : refuse(response, request),
    );
    const { logs } = await exported(storeAt(store.url).export(SELECTION, 'asc', call()));
    expect(logs).to.deep.equal(IDS.slice(0, 200));
  });
});
