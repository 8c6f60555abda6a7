// Tests of the OpenSearch log store during failures of OpenSearch.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import { SearchClient } from '../../../../../../server/logging/backends/opensearch/search-client.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { RESPONDED, type Script, SELECTION, scriptedStore, searchResponse } from './scripted-store.ts';

/** Nanoseconds since the epoch. */
const KEY = '1768478400000000000';
const PAGE = { order: 'asc', size: 10, from: 0 } as const;

/** Responds with an error object of OpenSearch. */
function failing(status: number, error: object | string): Script {
  return (_, response) => {
    response.writeHead(status).end(typeof error === 'string' ? error : JSON.stringify({ error }));
    return RESPONDED;
  };
}

describe('the OpenSearch log store when the store fails', () => {
  async function failureOf(script: Script): Promise<StatusError> {
    await using store = await scriptedStore(script);
    const error = await rejection(storeAt(store.url).query(SELECTION, PAGE, call()));
    if (error instanceof StatusError) return error;
    throw error;
  }

  const endless: Script = (_, response) => {
    response.writeHead(502);
    const more = (): boolean => response.destroyed || response.write(Buffer.alloc(1 << 20, 'x'), more);
    more();
    return RESPONDED;
  };
  const compressed: Script = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(searchResponse([])));
    return RESPONDED;
  };
  const redirecting: Script = ({ path }, response) => {
    response.writeHead(307, { location: `${path}&again=1` }).end();
    return RESPONDED;
  };
  const withoutKeys = searchResponse([]).replace('"hits":[]', '"hits":[{"_index":"a","_id":"b"}]');
  const manyLines = Array.from({ length: 12 }, (_, n) => ({ id: `${n}`, key: KEY, sequence: n }));
  for (const [what, code, script] of [
    ['returns hits without sort keys', 503, () => withoutKeys],
    [
      'returns a total that is no number',
      503,
      () => searchResponse([]).replace('"value":0', '"value":"many"'),
    ],
    ['returns more hits than requested', 503, () => searchResponse(manyLines)],
    ['returns a deeply nested value', 503, () => '['.repeat(1_000_000)],
    ['sends an endless error', 503, endless],
    ['redirects forever', 503, redirecting],
    ['claims a compressed response', 503, compressed],
    // Patterns that repeat their search at each of these words would need hours.
    [
      'sends an error with a million words',
      503,
      failing(500, { type: 'x', reason: 'regex '.repeat(700_000) }),
    ],
    ['fails', 503, failing(500, { type: 'null_pointer_exception', reason: 'at 10.0.0.1' })],
    ['fails for lack of an index', 503, failing(500, { type: 'index_not_found_exception' })],
    ['is behind a gateway that times out', 504, failing(504, '<html>')],
    ['times out', 504, failing(500, { type: 'timeout_exception' })],
    ['cancels the search', 504, failing(400, { type: 'task_cancelled_exception' })],
  ] as const satisfies readonly (readonly [string, number, Script])[]) {
    it(`returns ${code} without the message of the store when it ${what}`, async () => {
      const error = await failureOf(script);
      expect(error.code).to.equal(code);
      expect(error.details?.retryAfterSeconds).to.be.above(0);
      expect(error.message).not.to.match(/exception|10\.0\.0\.1|127\.0\.0\.1|html/);
    });
  }

  it('uses the other nodes when one does not respond', async () => {
    await using silent = await scriptedStore(() => RESPONDED);
    await using sound = await scriptedStore(() => searchResponse([]));
    const store = storeAt(sound.url, { urls: [silent.url, sound.url] });
    const outcomes: string[] = [];
    // Nodes are used in turn: the second search has tried the silent one.
    for (let n = 0; n < 6; n++) {
      const query = store.query(SELECTION, PAGE, call(undefined, 100));
      await query.then(() => outcomes.push('done')).catch(() => outcomes.push('late'));
    }
    expect(outcomes.filter((each) => each === 'late')).to.have.length(1);
  });

  it('uses the other nodes when one refuses connections', async () => {
    await using sound = await scriptedStore(() => searchResponse([]));
    const gone = await scriptedStore(() => RESPONDED);
    await gone[Symbol.asyncDispose]();
    // The client may start with either.
    for (const urls of [
      [gone.url, sound.url],
      [sound.url, gone.url],
    ]) {
      const { total } = await storeAt(sound.url, { urls }).query(SELECTION, PAGE, call());
      expect(total).to.deep.equal({ count: 0, relation: 'eq' });
    }
  });

  // Messages of OpenSearch 2.19 and Elasticsearch 8.
  for (const [parameter, type, reason] of [
    ['log_query', 'too_complex_to_determinize_exception', 'x'],
    ['size', 'illegal_argument_exception', 'Result window is too large, from + size must be less than'],
    ['interval', 'too_many_buckets_exception', 'Trying to create too many buckets. Must be less than'],
    ['namespaces', 'too_many_nested_clauses', 'Query contains too many nested clauses'],
  ] as const) {
    it(`returns 400 for ${parameter} after ${type}`, async () => {
      const status = type === 'too_many_buckets_exception' ? 503 : 400;
      const caused_by = { type, reason };
      const error = await failureOf(
        failing(status, { type: 'search_phase_execution_exception', root_cause: [], caused_by }),
      );
      expect(error.code).to.equal(400);
      expect(error.details?.causes?.map(({ field }) => field)).to.deep.equal([parameter]);
    });
  }

  for (const [what, changes, message] of [
    ['stops searching', { timed_out: true }, /at the deadline/],
    [
      'skips a cluster',
      { _clusters: { total: 2, successful: 1, skipped: 1 } },
      /^1 of 2 clusters .* unreachable$/,
    ],
  ] as const) {
    it(`returns a lower bound, with the reason, when it ${what}`, async () => {
      await using store = await scriptedStore(() => searchResponse([], changes));
      const { total, shortfalls } = await storeAt(store.url).query(SELECTION, PAGE, call());
      expect(total.relation).to.equal('gte');
      expect(shortfalls.map((each) => each.message).join()).to.match(message);
    });
  }

  it('returns a line beyond the limits of JSON as an empty one, and the other lines', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const page = searchResponse(manyLines.slice(0, 3)).replace('"_source":{', `"_source":{"deep":${deep},`);
    await using store = await scriptedStore(({ body }) => (body['size'] === 0 ? searchResponse([]) : page));
    const { records } = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(records).to.have.length(3);
    expect(records[0]).to.include({ log: '', namespace: '' });
    expect(records[1]?.namespace).not.to.equal('');
  });

  it('fails when it skips all clusters', async () => {
    const skipped = { _clusters: { total: 1, successful: 0, skipped: 1 } };
    expect((await failureOf(() => searchResponse([], skipped))).cause).to.match(/is unreachable/);
  });

  it('finds nothing without indices', async () => {
    const missing = failing(404, { type: 'index_not_found_exception' });
    await using store = await scriptedStore(missing, missing);
    const { records, total } = await storeAt(store.url).query(SELECTION, PAGE, call());
    expect(records).to.deep.equal([]);
    expect(total).to.deep.equal({ count: 0, relation: 'eq' });
  });

  it('sends a shorter timeout to the store than the time limit of the caller', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    await storeAt(store.url).query(SELECTION, PAGE, call(undefined, 20_000));
    expect(Number.parseInt(String(store.requests.at(-1)?.body['timeout']), 10)).to.be.within(1, 19_999);
  });
});

describe('a request to OpenSearch', () => {
  it('fails if its caller disconnects during the response, instead of returning a part of it', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    const client = new SearchClient({ urls: [store.url] });
    const request = { method: 'POST', path: '/_search', body: '{}' } as const;
    const reason = new Error('gone');
    const outcomes = new Set<unknown>();
    for (let steps = 0; steps < 24; steps++) {
      const caller = new AbortController();
      const leave = (left: number): void => {
        if (left === 0) caller.abort(reason);
        else queueMicrotask(() => leave(left - 1));
      };
      const came = (): void => leave(steps);
      subscribe('undici:request:headers', came);
      const response = client.request(request, call(caller.signal), JSON.stringify);
      outcomes.add(await response.catch((error: unknown) => error));
      unsubscribe('undici:request:headers', came);
    }
    const complete = await client.request(request, call(), JSON.stringify);
    expect(outcomes).to.include(reason);
    expect([...outcomes].filter((outcome) => outcome !== reason && outcome !== complete)).to.deep.equal([]);
    client.close();
  });
});
