import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import type { OpenSearchLogStore } from '../../../../../../server/logging/backends/opensearch/opensearch-log-store.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { until } from '../../../../../support/until.ts';
import { ANSWERED, answer, call, type Script, SELECTION, scriptedStore } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 10, from: 0 } as const;

describe('an OpenSearch that fails', () => {
  async function refused(script: Script, timeoutMs = 30_000): Promise<StatusError> {
    await using store = await scriptedStore(script);
    try {
      await storeAt(store.url).query(SELECTION, PAGE, call(timeoutMs));
    } catch (error) {
      if (error instanceof StatusError) return error;
      throw error;
    }
    throw new Error('it was answered');
  }

  const faults: readonly [what: string, script: Script][] = [
    ['answers what is not JSON', () => 'this is no JSON'],
    ['answers JSON that is no search', () => ({ hello: 'world' })],
    ['answers hits without keys', () => answer([]).replace('"hits":[]', '"hits":[{"_index":"a","_id":"b"}]')],
    ['answers a total that is no number', () => answer([]).replace('"value":0', '"value":"many"')],
    [
      'refuses our password',
      (_, response) => {
        response.writeHead(401).end('{"error":"who are you, elastic:secret?"}');
        return ANSWERED;
      },
    ],
    [
      'has too much to do',
      (_, response) => {
        response
          .writeHead(429)
          .end('{"error":{"type":"circuit_breaking_exception","reason":"[parent] Data too large"}}');
        return ANSWERED;
      },
    ],
    [
      'refuses at endless length',
      (_, response) => {
        response.writeHead(502);
        const more = (): boolean => response.destroyed || response.write(Buffer.alloc(1 << 20, 'x'), more);
        more();
        return ANSWERED;
      },
    ],
    [
      'ends the connection in the middle of an answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"took":');
        setImmediate(() => response.destroy());
        return ANSWERED;
      },
    ],
    [
      'ends the connection without an answer',
      (_, response) => {
        response.destroy();
        return ANSWERED;
      },
    ],
  ];
  for (const [what, script] of faults) {
    it(`is unavailable when it ${what}`, async () => {
      const error = await refused(script);
      expect(error.code).to.equal(503);
      expect(error.details?.retryAfterSeconds).to.be.above(0);
      expect(error.message).not.to.match(/secret|127\.0\.0\.1|parent/);
    });
  }

  it('is unavailable when it lists names in a way that nobody can read', async () => {
    const texts = Array.from({ length: 50 }, (_, n) => `${n}`.padStart(200, 'x'));
    const selection = { ...SELECTION, pods: { contains: texts } };
    for (const buckets of [undefined, {}, [{ doc_count: 1 }]]) {
      await using store = await scriptedStore(() =>
        answer([], { aggregations: { values0: { buckets, sum_other_doc_count: 0 } } }),
      );
      const error = await storeAt(store.url)
        .query(selection, PAGE, call())
        .catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(StatusError).and.to.include({ code: 503 });
    }
  });

  it('is unavailable when nobody listens', async () => {
    const store = await scriptedStore(() => answer([]));
    await store[Symbol.asyncDispose]();
    const error = await storeAt(store.url)
      .query(SELECTION, PAGE, call())
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(StatusError).and.to.include({ code: 503 });
  });

  it('is unavailable at once for who begins to follow, and waited for by who does follow', async () => {
    const store = await scriptedStore(() => answer([]));
    await store[Symbol.asyncDispose]();
    const begin = storeAt(store.url).follow(SELECTION, call());
    const error = await begin.next().catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(StatusError).and.to.include({ code: 503 });

    const first = { id: 'a', key: '1768435200000000001', sequence: 1 };
    const second = { id: 'b', key: '1768435200000000002', sequence: 2 };
    let searches = 0;
    await using passing = await scriptedStore((_, response) => {
      searches += 1;
      if (searches === 1) return answer([first]);
      if (searches > 3) return answer([first, second]);
      response.writeHead(503).end('{}');
      return ANSWERED;
    });
    const leaving = new AbortController();
    const lines = storeAt(passing.url, { followTuning: { pollMs: 1, retryMs: 1 } }).follow(
      SELECTION,
      call(60_000, leaving.signal),
    );
    const logs: string[] = [];
    for await (const batch of lines) {
      logs.push(...batch.map(({ log }) => log));
      if (logs.length === 2) leaving.abort();
    }
    expect(logs).to.deep.equal(['a', 'b']);
    expect(searches).to.be.above(3);
  });

  it('has taken too long when it does not answer in time', async () => {
    const error = await refused(() => ANSWERED, 20);
    expect(error.code).to.equal(504);
  });

  it('is told apart from a slow one when it answers nothing at all', async () => {
    const refusalAfter = async (ms: number, meanwhile?: (store: OpenSearchLogStore) => Promise<unknown>) => {
      let clock = 0;
      let searches = 0;
      await using silent = await scriptedStore(() => {
        if (++searches > 1) return answer([]);
        clock = ms;
        return ANSWERED;
      });
      const store = storeAt(silent.url, { now: () => clock });
      const late = store.query(SELECTION, PAGE, call(300)).catch((error: unknown) => error);
      await until(() => searches === 1);
      await meanwhile?.(store);
      return await late;
    };
    const slow = /took too long; use a shorter range/;
    expect(await refusalAfter(21_000))
      .to.include({ code: 504 })
      .and.have.property('message')
      .that.matches(/^the log store opensearch has answered nothing at all for 21 s; try again/);
    // Nobody else has asked since; it may be at work on this one question.
    expect(await refusalAfter(19_000))
      .to.have.property('message')
      .that.matches(slow);
    expect(await refusalAfter(21_000, (store) => store.query(SELECTION, PAGE, call())))
      .to.have.property('message')
      .that.matches(slow);
  });

  it('is asked by way of its other nodes when one has kept silent', async () => {
    await using silent = await scriptedStore(() => ANSWERED);
    await using sound = await scriptedStore(() => answer([]));
    const store = storeAt(sound.url, { urls: [silent.url, sound.url] });
    const ask = (): Promise<string> =>
      store.query(SELECTION, PAGE, call(100)).then(
        () => 'answered',
        () => 'late',
      );
    const answers: string[] = [];
    // Nodes take turns: the silent one has been asked by the second search.
    for (let n = 0; n < 6; n++) answers.push(await ask());
    expect(answers.filter((each) => each === 'late')).to.have.length(1);
  });

  // As OpenSearch 2.19 and Elasticsearch 8 word them.
  const faultsOfCallers = [
    ['log_query', 'too_complex_to_determinize_exception', 'x'],
    ['size', 'illegal_argument_exception', 'Result window is too large, from + size must be less than'],
    ['interval', 'too_many_buckets_exception', 'Trying to create too many buckets. Must be less than'],
    ['namespaces', 'too_many_nested_clauses', 'Query contains too many nested clauses'],
  ] as const;
  for (const [parameter, type, reason] of faultsOfCallers) {
    it(`refuses with ${type} what the caller can ask in another way, by ${parameter}`, async () => {
      const error = await refused((_, response) => {
        const body = {
          type: 'search_phase_execution_exception',
          root_cause: [],
          caused_by: { type, reason },
        };
        response.writeHead(type === 'too_many_buckets_exception' ? 503 : 400);
        response.end(JSON.stringify({ error: body }));
        return ANSWERED;
      });
      expect(error.code).to.equal(400);
      expect(error.details?.causes?.map(({ field }) => field)).to.deep.equal([parameter]);
    });
  }

  it('tells what is missing when it ran out of time or lost shards', async () => {
    const shards = { total: 10, successful: 8, skipped: 0, failed: 2, failures: [] };
    await using store = await scriptedStore(() =>
      answer([{ id: 'a', key: '1768435200000000001', sequence: 1 }], { timed_out: true, _shards: shards }),
    );
    const page = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout', 'ShardFailed']);
    expect(page.shortfalls[1]?.message).to.include('2 of 10');
    expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
    expect(page.records).to.have.length(1);
  });

  it('tells of shards that no node holds, which count as neither successful nor failed', async () => {
    const away = { _shards: { total: 3, successful: 2, skipped: 0, failed: 0 } };
    const lines = [{ id: 'a', key: '1768435200000000001', sequence: 1 }];
    await using store = await scriptedStore((asked) => {
      // What is in a point in time is there; the others were away when it was made.
      if (asked.path.includes('point_in_time')) return { pit_id: 'first', ...away };
      return answer(lines, asked.body['pit'] ? {} : away);
    });
    const page = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(page.shortfalls[0]?.message).to.include('1 of 3 shards');
    expect(page.total).to.deep.equal({ count: 1, relation: 'gte' });
    const exported = storeAt(store.url).export(SELECTION, 'asc', call());
    let end = await exported.next();
    while (end.done !== true) end = await exported.next();
    expect(end.value.shortfalls).to.deep.equal(page.shortfalls);
  });

  it('is asked once, not in all the ways there are, for an export when it is silent', async () => {
    await using store = await scriptedStore(() => ANSWERED);
    const error = await storeAt(store.url, { pageMs: 50 })
      .export(SELECTION, 'asc', call())
      .next()
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(StatusError).and.to.include({ code: 504 });
    expect(store.asked.filter(({ method }) => method === 'POST')).to.have.length(1);
  });

  it('is unavailable, not empty, where all shards of its indices are away', async () => {
    await using store = await scriptedStore(
      (_, response) => {
        response
          .writeHead(503)
          .end('{"error":{"type":"search_phase_execution_exception","reason":"all shards failed"}}');
        return ANSWERED;
      },
      { indices: [], fields: {} },
    );
    const error = await storeAt(store.url)
      .query(SELECTION, PAGE, call())
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(StatusError).and.to.include({ code: 503 });
  });

  it('finds nothing where there is no index', async () => {
    await using store = await scriptedStore((_, response) => {
      response.writeHead(404).end('{"error":{"type":"index_not_found_exception"}}');
      return ANSWERED;
    });
    const { records, total } = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(records).to.deep.equal([]);
    expect(total).to.deep.equal({ count: 0, relation: 'eq' });
  });

  it('is asked for less time than the caller has', async () => {
    await using store = await scriptedStore(() => answer([]));
    await storeAt(store.url).query(SELECTION, PAGE, call(20_000));
    expect(Number.parseInt(String(store.asked.at(-1)?.body['timeout']), 10)).to.be.within(1, 19_999);
  });

  it('loses the connection when the caller goes away', async () => {
    const closed = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    await using store = await scriptedStore((_, response) => {
      response.once('close', closed.resolve);
      reached.resolve();
      return ANSWERED;
    });
    const leaving = new AbortController();
    const asking = storeAt(store.url).query(SELECTION, PAGE, call(60_000, leaving.signal));
    await reached.promise;
    leaving.abort(new Error('gone'));
    expect(await asking.catch((error: unknown) => error)).to.have.property('message', 'gone');
    await closed.promise;
  });

  it('loses the connection when the caller goes away in the middle of an answer', async () => {
    const closed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    await using store = await scriptedStore((_, response) => {
      response.once('close', closed.resolve);
      response.writeHead(200, { 'content-length': '1000' }).write('{"took":', () => begun.resolve());
      return ANSWERED;
    });
    const leaving = new AbortController();
    const asking = storeAt(store.url).query(SELECTION, PAGE, call(60_000, leaving.signal));
    await begun.promise;
    leaving.abort(new Error('gone'));
    expect(await asking.catch((error: unknown) => error)).to.have.property('message', 'gone');
    await closed.promise;
  });

  it('has taken too long when its answer does not end in time', async () => {
    const error = await refused((_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"took":');
      return ANSWERED;
    }, 20);
    expect(error.code).to.equal(504);
  });

  it('is let go of by all parts of a question when one of them fails', async () => {
    const { end } = SELECTION.range;
    const last = Date.parse(end);
    // More bounds than one query holds.
    const namespaces = Array.from({ length: 300 }, (_, n) => ({
      name: `made-anew-${n}`,
      since: new Date(last - (300 - n) * 1_000).toISOString().replace('Z', '000000Z'),
    }));
    const selection = { ...SELECTION, scope: { everything: false, namespaces } } as const;
    const step = 3_600_000;
    const buckets = { edges: [last - step, last] };
    for (const what of ['statistics', 'histogram'] as const) {
      const closed = Promise.withResolvers<void>();
      let searches = 0;
      let first: (() => void) | undefined;
      await using store = await scriptedStore((_, response) => {
        searches++;
        if (searches === 1) first = () => response.writeHead(503).end('{}');
        else {
          response.once('close', closed.resolve);
          first?.();
        }
        return ANSWERED;
      });
      const backend = storeAt(store.url, { wallClock: () => last });
      const asking =
        what === 'statistics'
          ? backend.statistics(selection, call(60_000))
          : backend.histogram(selection, buckets, call(60_000));
      expect(await asking.catch((error: unknown) => error), what).to.include({ code: 503 });
      await closed.promise;
      expect(searches, what).to.equal(2);
    }
  });

  it('is asked the same in the same words, so that it may answer what it has counted before', async () => {
    let now = 0;
    await using store = await scriptedStore(() => answer([]));
    const backend = storeAt(store.url, { now: () => (now += 1) });
    for (let n = 0; n < 9; n++) {
      await backend.statistics(SELECTION, call(30_000));
      now += Math.PI;
    }
    const searches = store.asked.filter(({ path }) => path.includes('_search')).map(({ text }) => text);
    expect(searches).to.have.length(9);
    // The first finds out whether containers are few; of two ways in turn the quicker one is taken from then on.
    expect(new Set(searches.slice(1))).to.have.length(2);
    expect(new Set(searches.slice(5))).to.have.length(1);
  });

  it('is understood where an answer is cut in the middle of a character', async () => {
    const log = 'Grüße, 世界 🌍';
    const bytes = Buffer.from(answer([{ id: 'a', key: '1768435200000000001', sequence: 1, log }]));
    await using store = await scriptedStore((_, response) => {
      response.writeHead(200, { 'content-length': String(bytes.length) });
      const write = (at: number): void => {
        if (at >= bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(write, at + 1));
      };
      write(0);
      return ANSWERED;
    });
    const { records } = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(records.map((record) => record.log)).to.deep.equal([log]);
  });

  it('is asked once more when a kept connection turns out to be closed', async () => {
    let searches = 0;
    await using store = await scriptedStore((_, response) => {
      searches++;
      if (searches === 1) {
        response.destroy();
        return ANSWERED;
      }
      return answer([]);
    });
    await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(searches).to.equal(2);
  });

  it('is not healthy while it is down, and is again when it is back', async () => {
    let down = true;
    await using store = await scriptedStore((_, response) => {
      if (!down) return answer([]);
      response.writeHead(503).end('{}');
      return ANSWERED;
    });
    const backend = storeAt(store.url);
    expect(await backend.check(call()).catch((error: unknown) => error)).to.include({ code: 503 });
    down = false;
    await backend.check(call());
  });
});
