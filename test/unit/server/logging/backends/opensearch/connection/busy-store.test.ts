import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { StatusError } from '../../../../../../../apis/meta/v1/errors.ts';
import type { OpenSearchLogStore } from '../../../../../../../server/logging/backends/opensearch/opensearch-log-store.ts';
import type { Call } from '../../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import { ANSWERED, type Asked, answer, call, SELECTION, scriptedStore } from '../scripted-store.ts';

const LINE = { id: 'a', key: '1768471200000000001', sequence: 1 };
const HOUR = 3_600_000;
const END = Date.parse(SELECTION.range.end);
const REJECTED = { type: 'rejected_execution_exception', reason: 'rejected execution of a task' };
const breaker = (durability: string) => ({
  type: 'circuit_breaking_exception',
  reason: 'too large',
  durability,
});

interface Refusal {
  /** Of the first so many searches. */
  readonly times: number;
  readonly error?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** After each of them. */
  readonly refused?: () => void;
}

function refusing({ times, error = REJECTED, headers = {}, refused = () => undefined }: Refusal) {
  let searches = 0;
  return (asked: Asked, response: ServerResponse): unknown => {
    if (asked.method === 'DELETE') return { pits: [] };
    if (++searches <= times) {
      response.once('finish', refused);
      response.writeHead(429, headers).end(JSON.stringify({ error: { ...error, root_cause: [error] } }));
      return ANSWERED;
    }
    if (asked.path.includes('point_in_time')) return { pit_id: 'point' };
    return answer([LINE], { aggregations: { containers0: { value: 1 }, by: { buckets: [] } } });
  };
}

const QUESTIONS: Readonly<Record<string, (store: OpenSearchLogStore, by: Call) => Promise<unknown>>> = {
  query: (store, by) => store.query(SELECTION, { order: 'asc', size: 10, from: 0 }, by),
  statistics: (store, by) => store.statistics(SELECTION, by),
  histogram: (store, by) => store.histogram(SELECTION, { edges: [END - HOUR, END] }, by),
  export: async (store, by) => (await store.export(SELECTION, 'asc', by).next()).value,
};

describe('an OpenSearch that has too much to do', () => {
  async function outcome(what: string, refusal: Refusal, { by = call(), busyPauseMs = 10 } = {}) {
    await using store = await scriptedStore(refusing(refusal));
    const answered = await QUESTIONS[what]?.(storeAt(store.url, { busyPauseMs }), by).catch(
      (error: unknown) => error,
    );
    const searches = store.asked.filter(({ method, path }) => method === 'POST' && path.includes('_search'));
    return { answered, searches };
  }

  for (const what of Object.keys(QUESTIONS)) {
    it(`is asked again, a moment later, for ${what === 'export' ? 'an' : 'a'} ${what}`, async () => {
      const { answered } = await outcome(what, { times: 2 });
      expect(answered).not.to.be.instanceOf(Error);
    });
  }

  it('is asked for what is left of the time then', async () => {
    const { searches } = await outcome('query', { times: 2 }, { by: call(9_000), busyPauseMs: 100 });
    const times = searches.map(({ body }) => Number.parseInt(String(body['timeout']), 10));
    expect(times[2]).to.be.below(times[1] ?? 0);
    expect(times[1]).to.be.below(times[0] ?? 0);
  });

  it('is asked three times, and then who asks is told when to come again', async () => {
    const { answered, searches } = await outcome('query', { times: 9 });
    expect(answered).to.be.instanceOf(StatusError).and.to.include({ code: 503 });
    expect(answered).to.have.nested.property('details.retryAfterSeconds', 5);
    expect(String(answered)).to.include('has too much to do').and.not.to.include('rejected');
    expect(searches).to.have.length(3);
  });

  it('is asked again when it says', async () => {
    const began = performance.now();
    const { answered } = await outcome('query', { times: 1, headers: { 'retry-after': '1' } });
    expect(answered).not.to.be.instanceOf(Error);
    expect(performance.now() - began).to.be.at.least(990);
  }).slow(3_000);

  it('is not asked again where it wants more time than there is', async () => {
    const { answered, searches } = await outcome('query', { times: 9, headers: { 'retry-after': '20' } });
    expect(answered).to.have.nested.property('details.retryAfterSeconds', 20);
    expect(searches).to.have.length(1);
    expect(
      (await outcome('query', { times: 9 }, { by: call(30_000), busyPauseMs: 100_000 })).searches,
    ).to.have.length(1);
  });

  it('is asked for a count again where memory is short for a moment, not where it stays so', async () => {
    const passing = await outcome('statistics', { times: 1, error: breaker('TRANSIENT') });
    expect(passing.answered).not.to.be.instanceOf(Error);
    const lasting = await outcome('statistics', { times: 9, error: breaker('PERMANENT') });
    expect(lasting.answered).to.include({ code: 503 });
    expect(lasting.searches).to.have.length(1);
  });

  it('is not asked for all lines again where fewer may do', async () => {
    const { searches } = await outcome('query', { times: 9, error: breaker('TRANSIENT') });
    expect(searches).to.have.length(1);
  });

  it('is not asked again by who has left', async () => {
    const leaving = new AbortController();
    // A moment later the refusal has been read, and the pause has begun.
    const refused = (): void => void setTimeout(() => leaving.abort(new Error('gone')), 100);
    const by = call(60_000, leaving.signal);
    const { answered, searches } = await outcome('query', { times: 9, refused }, { by, busyPauseMs: 20_000 });
    expect(answered).to.have.property('message', 'gone');
    expect(searches).to.have.length(1);
  });
});
