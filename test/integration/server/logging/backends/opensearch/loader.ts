// Tests of the loader of log records and of its index templates, on a real node.
import { expect } from 'chai';
import { loadOpenSearch } from '../../../../../../hack/log-stores/load-opensearch.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { someRecords } from '../../../../hack/log-stores/records.ts';
import type { StartedNode } from './started-node.ts';

export function describeLoader(node: () => StartedNode): void {
  describe('an OpenSearch node with loaded records', () => {
    const ask = (path: string, body?: object): Promise<unknown> =>
      node().ask(body === undefined ? 'GET' : 'POST', path, body);
    /** Number of matching lines of the index. */
    const count = (index: string, query: object): Promise<unknown> =>
      ask(`/${index}/_count?filter_path=count,error`, { query });

    it('is the requested version, with core features only', async () => {
      expect(await ask('/?filter_path=version.number')).to.deep.equal({
        version: { number: '2.19.6' },
      });
    });

    it('has every line in the index of its day when loading has ended', async () => {
      const loaded = await loadOpenSearch(node().url, someRecords(2_000), {
        indexPrefix: 'loaded',
        batch: 300,
      });
      expect(loaded).to.deep.equal({ records: 2_000 });
      const all = { match_all: {} };
      expect(await count('loaded-2026.11.19', all)).to.deep.equal({ count: 1_000 });
      expect(await count('loaded-2026.11.20', all)).to.deep.equal({ count: 1_000 });
    });

    it('finds substrings in any case, and labels with dots, with the recommended template', async () => {
      const found = (query: object): Promise<unknown> => count('loaded-*', query);
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
      const answer = await ask('/loaded-*/_search?filter_path=hits.hits._source', search);
      const times = ['999001999', '998001998', '997001997', '996001996'];
      expect(answer).to.deep.equal({
        hits: { hits: times.map((time) => ({ _source: { time: `2026-11-20T00:00:00.${time}Z` } })) },
      });
    });

    it('maps the records of collectors dynamically without a template', async () => {
      await loadOpenSearch(node().url, someRecords(200), { indexPrefix: 'unmapped', template: 'dynamic' });
      const mapping = await ask(
        '/unmapped-2026.11.20/_mapping/field/time,log,log.keyword,kubernetes.pod_name',
      );
      expect(mapping).to.deep.equal({
        'unmapped-2026.11.20': {
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
      expect(await count('unmapped-*', { term: label })).to.deep.equal({ count: 100 });
    });

    it('reports which line it rejects', async () => {
      const records = [...someRecords(3)].map((record) => ({ ...record, time: '2026-11-20T25:00:00Z' }));
      const { message } = await rejection(loadOpenSearch(node().url, records, { indexPrefix: 'loaded' }));
      expect(message).to.match(/^OpenSearch rejected records: .*failed to parse field \[time\]/);
    });
  });
}
