// Tests of the OpenSearch log store during failures of OpenSearch.
import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import type { OpenSearchLogStore } from '../../../../../../server/logging/backends/opensearch/opensearch-log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { until } from '../../../../../support/until.ts';
import { call, RESPONDED, type Script, SELECTION, scriptedStore, searchResponse } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 10, from: 0 } as const;

describe('the OpenSearch log store when the store fails', () => {
  async function failureOf(script: Script, timeoutMs = 30_000): Promise<StatusError> {
    await using store = await scriptedStore(script);
    try {
      await storeAt(store.url).query(SELECTION, PAGE, call(timeoutMs));
    } catch (error) {
      if (error instanceof StatusError) return error;
      throw error;
    }
    throw new Error('the query succeeded');
  }

  const failures: readonly [what: string, script: Script][] = [
    ['responds without JSON', () => 'this is no JSON'],
    ['responds with other JSON', () => ({ hello: 'world' })],
    [
      'returns hits without sort keys',
      () => searchResponse([]).replace('"hits":[]', '"hits":[{"_index":"a","_id":"b"}]'),
    ],
    ['returns a total that is no number', () => searchResponse([]).replace('"value":0', '"value":"many"')],
    [
      'rejects the credentials',
      (_, response) => {
        response.writeHead(401).end('{"error":"who are you, elastic:secret?"}');
        return RESPONDED;
      },
    ],
    [
      'is overloaded',
      (_, response) => {
        response
          .writeHead(429)
          .end('{"error":{"type":"circuit_breaking_exception","reason":"[parent] Data too large"}}');
        return RESPONDED;
      },
    ],
    [
      'sends an endless error',
      (_, response) => {
        response.writeHead(502);
        const more = (): boolean => response.destroyed || response.write(Buffer.alloc(1 << 20, 'x'), more);
        more();
        return RESPONDED;
      },
    ],
  ];
  for (const [what, script] of failures) {
    it(`is unavailable when it ${what}`, async () => {
      const error = await failureOf(script);
      expect(error.code).to.equal(503);
      expect(error.details?.retryAfterSeconds).to.be.above(0);
      expect(error.message).not.to.match(/secret|127\.0\.0\.1|parent/);
    });
  }

  it('distinguishes an unresponsive store from a slow one', async () => {
    const failureAfter = async (ms: number, meanwhile?: (store: OpenSearchLogStore) => Promise<unknown>) => {
      let clock = 0;
      let searches = 0;
      await using silent = await scriptedStore(() => {
        if (++searches > 1) return searchResponse([]);
        clock = ms;
        return RESPONDED;
      });
      const store = storeAt(silent.url, { now: () => clock });
      const late = store.query(SELECTION, PAGE, call(300)).catch((error: unknown) => error);
      await until(() => searches === 1);
      await meanwhile?.(store);
      return await late;
    };
    const slow = /took too long; use a shorter range/;
    expect(await failureAfter(23_000))
      .to.include({ code: 504 })
      .and.have.property('message')
      .that.matches(/^the log store opensearch has responded to no request for 23 s; try again/);
    // Health checks get a response within 21 seconds, so the store may only be slow until then.
    expect(await failureAfter(21_000))
      .to.have.property('message')
      .that.matches(slow);
    expect(await failureAfter(23_000, (store) => store.query(SELECTION, PAGE, call())))
      .to.have.property('message')
      .that.matches(slow);
  });

  it('uses the other nodes when one does not respond', async () => {
    await using silent = await scriptedStore(() => RESPONDED);
    await using sound = await scriptedStore(() => searchResponse([]));
    const store = storeAt(sound.url, { urls: [silent.url, sound.url] });
    const query = (): Promise<string> =>
      store.query(SELECTION, PAGE, call(100)).then(
        () => 'done',
        () => 'late',
      );
    const outcomes: string[] = [];
    // Nodes are used in turn: the second search has tried the silent one.
    for (let n = 0; n < 6; n++) outcomes.push(await query());
    expect(outcomes.filter((each) => each === 'late')).to.have.length(1);
  });

  // Messages of OpenSearch 2.19 and Elasticsearch 8.
  const rejections = [
    ['log_query', 'too_complex_to_determinize_exception', 'x'],
    ['size', 'illegal_argument_exception', 'Result window is too large, from + size must be less than'],
    ['interval', 'too_many_buckets_exception', 'Trying to create too many buckets. Must be less than'],
    ['namespaces', 'too_many_nested_clauses', 'Query contains too many nested clauses'],
  ] as const;
  for (const [parameter, type, reason] of rejections) {
    it(`returns 400 for ${parameter} after ${type}`, async () => {
      const error = await failureOf((_, response) => {
        const body = {
          type: 'search_phase_execution_exception',
          root_cause: [],
          caused_by: { type, reason },
        };
        response.writeHead(type === 'too_many_buckets_exception' ? 503 : 400);
        response.end(JSON.stringify({ error: body }));
        return RESPONDED;
      });
      expect(error.code).to.equal(400);
      expect(error.details?.causes?.map(({ field }) => field)).to.deep.equal([parameter]);
    });
  }

  it('reports a timeout and failed shards', async () => {
    const shards = { total: 2, successful: 1, skipped: 0, failed: 1, failures: [] };
    await using store = await scriptedStore(() =>
      searchResponse([{ id: 'a', key: '1768435200000000001', sequence: 1 }], {
        timed_out: true,
        _shards: shards,
      }),
    );
    const page = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout', 'ShardFailed']);
    expect(page.shortfalls[1]?.message).to.include('1 of 2');
    expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
    expect(page.records).to.have.length(1);
  });

  it('finds nothing without indices', async () => {
    const missing: Script = (_, response) => {
      response.writeHead(404).end('{"error":{"type":"index_not_found_exception"}}');
      return RESPONDED;
    };
    await using store = await scriptedStore(missing, missing);
    const { records, total } = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(records).to.deep.equal([]);
    expect(total).to.deep.equal({ count: 0, relation: 'eq' });
  });

  it('sends a shorter timeout to the store than the time limit of the caller', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    await storeAt(store.url).query(SELECTION, PAGE, call(20_000));
    expect(Number.parseInt(String(store.requests.at(-1)?.body['timeout']), 10)).to.be.within(1, 19_999);
  });

  it('closes the connection when the caller disconnects during a response', async () => {
    const closed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    await using store = await scriptedStore((_, response) => {
      response.once('close', closed.resolve);
      response.writeHead(200, { 'content-length': '1000' }).write('{"took":', () => begun.resolve());
      return RESPONDED;
    });
    const leaving = new AbortController();
    const running = storeAt(store.url).query(SELECTION, PAGE, call(60_000, leaving.signal));
    await begun.promise;
    leaving.abort(new Error('gone'));
    expect(await running.catch((error: unknown) => error)).to.have.property('message', 'gone');
    await closed.promise;
  });

  it('times out during a response', async () => {
    const error = await failureOf((_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"took":');
      return RESPONDED;
    }, 20);
    expect(error.code).to.equal(504);
  });

  it('reads characters that are split between chunks', async () => {
    const log = 'Grüße, 世界 🌍';
    const bytes = Buffer.from(searchResponse([{ id: 'a', key: '1768435200000000001', sequence: 1, log }]));
    await using store = await scriptedStore((_, response) => {
      response.writeHead(200, { 'content-length': String(bytes.length) });
      const write = (at: number): void => {
        if (at >= bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(write, at + 1));
      };
      write(0);
      return RESPONDED;
    });
    const { records } = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(records.map((record) => record.log)).to.deep.equal([log]);
  });
});
