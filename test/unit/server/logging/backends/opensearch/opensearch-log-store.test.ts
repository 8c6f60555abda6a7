// Tests of the OpenSearch log store during failures of OpenSearch.
import { expect } from 'chai';
import { StatusError } from '../../../../../../apis/meta/v1/errors.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
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
    [
      'returns hits without sort keys',
      () => searchResponse([]).replace('"hits":[]', '"hits":[{"_index":"a","_id":"b"}]'),
    ],
    ['returns a total that is no number', () => searchResponse([]).replace('"value":0', '"value":"many"')],
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
});
