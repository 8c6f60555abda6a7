// Tests of OpenSearch nodes that the development tools start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadOpenSearch } from '../../../../hack/log-stores/load-opensearch.ts';
import type { LogStoreProcess } from '../../../../hack/log-stores/log-store.ts';
import { startOpenSearch } from '../../../../hack/log-stores/opensearch.ts';
import { requireJava } from '../../../support/logging/require-java.ts';
import { rejection } from '../../../support/rejection.ts';
import { someRecords } from './records.ts';

const { signal } = new AbortController();

async function ask(store: LogStoreProcess, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${store.url}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  return response.json();
}

/** Number of matching lines of the index. */
async function count(store: LogStoreProcess, index: string, query: object): Promise<unknown> {
  return ask(store, `/${index}/_count?filter_path=count,error`, { query });
}

describe('OpenSearch', function () {
  this.timeout(120_000);
  let dir: string;
  let store: LogStoreProcess | undefined;

  function started(): LogStoreProcess {
    if (store === undefined) throw new Error('OpenSearch has not started');
    return store;
  }

  before(async function () {
    await requireJava(this);
    this.timeout(240_000); // includes a build if the cache is empty
    dir = await mkdtemp(join(tmpdir(), 'opensearch-'));
    store = await startOpenSearch({ dir: join(dir, 'one'), signal });
  });

  after(async () => {
    await store?.stop();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  it('is the requested version, with core features only', async () => {
    expect(await ask(started(), '/?filter_path=version.number')).to.deep.equal({
      version: { number: '2.19.6' },
    });
  });

  it('has every line in the index of its day when loading has ended', async () => {
    const loaded = await loadOpenSearch(started().url, someRecords(2_000), {
      indexPrefix: 'logs',
      batch: 300,
    });
    expect(loaded).to.deep.equal({ records: 2_000 });
    const all = { match_all: {} };
    expect(await count(started(), 'logs-2026.11.19', all)).to.deep.equal({ count: 1_000 });
    expect(await count(started(), 'logs-2026.11.20', all)).to.deep.equal({ count: 1_000 });
  });

  it('finds substrings in any case, and labels with dots, with the recommended template', async () => {
    const found = (query: object): Promise<unknown> => count(started(), 'logs-*', query);
    const timeout = { value: '*imeout-1*', case_insensitive: true };
    // 100, 1000, 1100 … 1900
    expect(await found({ wildcard: { 'log.wildcard': timeout } })).to.deep.equal({ count: 11 });
    expect(await found({ wildcard: { 'log.wildcard': { value: '*imeout-1*' } } })).to.deep.equal({
      count: 0,
    });
    const regexp = { value: '.*timeout-[0-9]+ after.*', case_insensitive: true };
    expect(await found({ regexp: { 'log.wildcard': regexp } })).to.deep.equal({ count: 20 });
    expect(await found({ match_phrase: { log: 'as EVER' } })).to.deep.equal({ count: 1_980 });
    expect(await found({ term: { 'kubernetes.labels.app': 'web' } })).to.deep.equal({ count: 1_000 });
    const label = { 'kubernetes.labels.app.kubernetes.io/name': 'the-db' };
    expect(await found({ term: label })).to.deep.equal({ count: 1_000 });
  });

  it('keeps the order of lines within a millisecond with the recommended template', async () => {
    const search = { size: 4, sort: [{ time: 'desc' }], _source: ['time'] };
    const answer = await ask(started(), '/logs-*/_search?filter_path=hits.hits._source', search);
    const times = ['999001999', '998001998', '997001997', '996001996'];
    expect(answer).to.deep.equal({
      hits: { hits: times.map((time) => ({ _source: { time: `2026-11-20T00:00:00.${time}Z` } })) },
    });
  });

  it('maps the records of collectors dynamically without a template', async () => {
    await loadOpenSearch(started().url, someRecords(200), { indexPrefix: 'dynamic', template: 'dynamic' });
    const mapping = await ask(
      started(),
      '/dynamic-2026.11.20/_mapping/field/time,log,log.keyword,kubernetes.pod_name',
    );
    expect(mapping).to.deep.equal({
      'dynamic-2026.11.20': {
        mappings: {
          time: { full_name: 'time', mapping: { time: { type: 'date' } } },
          log: {
            full_name: 'log',
            mapping: { log: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } } },
          },
          'log.keyword': {
            full_name: 'log.keyword',
            mapping: { keyword: { type: 'keyword', ignore_above: 256 } },
          },
          'kubernetes.pod_name': {
            full_name: 'kubernetes.pod_name',
            mapping: {
              pod_name: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } },
            },
          },
        },
      },
    });
    const label = { 'kubernetes.labels.app_kubernetes_io/name.keyword': 'the-db' };
    expect(await count(started(), 'dynamic-*', { term: label })).to.deep.equal({ count: 100 });
  });

  it('reports which line it rejects', async () => {
    const records = [...someRecords(3)].map((record) => ({ ...record, time: '2026-11-20T25:00:00Z' }));
    const { message } = await rejection(loadOpenSearch(started().url, records, { indexPrefix: 'logs' }));
    expect(message).to.match(/^OpenSearch rejected records: .*failed to parse field \[time\]/);
  });

  it('has its lines after a crash, at the same address', async () => {
    const { url } = started();
    await started().kill();
    await started().start();
    expect(started().url).to.equal(url);
    expect(await count(started(), 'logs-*', { match_all: {} })).to.deep.equal({ count: 2_000 });
  });
});
