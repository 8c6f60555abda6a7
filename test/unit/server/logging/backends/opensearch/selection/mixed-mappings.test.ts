import { expect } from 'chai';
import type { Selection } from '../../../../../../../server/logging/log-store.ts';
import { storeAt } from '../../../../../../support/logging/opensearch-store.ts';
import { ANSWERED, answer, CAPABILITIES, call, SELECTION, scriptedStore } from '../scripted-store.ts';

const [OLD, NEW] = ['logs-2026.01.14', 'logs-2026.01.15'];
const keyword = { type: 'keyword', searchable: true, aggregatable: true };
const text = { type: 'text', searchable: true, aggregatable: false };

/** A field of another type in each of two indices: what is in it is asked with two requests. */
const MIXED = {
  indices: [OLD, NEW],
  fields: {
    ...CAPABILITIES.fields,
    'kubernetes.namespace_name': {
      text: { ...text, indices: [OLD] },
      keyword: { ...keyword, indices: [NEW] },
    },
    'kubernetes.namespace_name.keyword': {
      keyword: { ...keyword, indices: [OLD] },
      unmapped: { type: 'unmapped', indices: [NEW] },
    },
  },
};

const DAY_END = Date.parse(SELECTION.range.end);

describe('a question to indices of different mappings', () => {
  for (const [what, selection] of [
    [
      // More than a store is asked to find in names.
      'what names there are',
      {
        ...SELECTION,
        namespaces: { contains: Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(100, 'x')) },
      },
    ],
    [
      // More bounds than are just written down.
      'which namespaces had predecessors',
      {
        ...SELECTION,
        scope: {
          everything: false,
          namespaces: Array.from({ length: 150 }, (_, n) => ({
            name: `made-anew-${n}`,
            since: new Date(DAY_END - n * 1_000 - 1_000).toISOString().replace('Z', '000000Z'),
          })),
        },
      },
    ],
  ] as const satisfies readonly (readonly [string, Selection])[]) {
    it(`ends the other request about ${what} when one of two fails`, async () => {
      const closed = Promise.withResolvers<void>();
      const waiting: (() => void)[] = [];
      await using store = await scriptedStore((_, response) => {
        if (waiting.push(() => response.writeHead(503).end('{}')) === 2) {
          response.once('close', closed.resolve);
          waiting[0]?.();
        }
        return ANSWERED;
      }, MIXED);
      const backend = storeAt(store.url, { wallClock: () => DAY_END + 7_200_000 });
      const asking = backend.statistics(selection, call(60_000));
      expect(await asking.catch((error: unknown) => error)).to.include({ code: 503 });
      await closed.promise;
      expect(waiting).to.have.length(2);
    });
  }

  for (const [field, type, selection] of [
    ['time', 'date_nanos', SELECTION],
    ['log', 'text', { ...SELECTION, text: { mode: 'phrase', texts: ['a word'], caseSensitive: false } }],
  ] as const satisfies readonly (readonly [string, string, Selection])[]) {
    it(`tells that lines are missing of an index where ${field} cannot be asked`, async () => {
      const types = {
        [type]: { type, searchable: true, aggregatable: type !== 'text', indices: [NEW] },
        keyword: { ...keyword, indices: [OLD] },
      };
      await using store = await scriptedStore(() => answer([]), {
        indices: [OLD, NEW],
        fields: { ...CAPABILITIES.fields, [field]: types },
      });
      const page = await storeAt(store.url).query(selection, { order: 'asc', size: 1, from: 0 }, call());
      expect(page.total.relation).to.equal('gte');
      expect(page.shortfalls.map(({ reason, message }) => `${reason}: ${message}`)).to.deep.equal([
        'NotCovered: 1 of 2 indices have no field that can be asked this',
      ]);
    });
  }

  it('looks in records for the fields alone that an index does not map, since lines may be long', async () => {
    const id = { keyword: { ...keyword, indices: [OLD] }, unmapped: { type: 'unmapped', indices: [NEW] } };
    await using store = await scriptedStore(() => answer([]), {
      indices: [OLD, NEW],
      fields: { ...CAPABILITIES.fields, 'kubernetes.docker_id': id },
    });
    await storeAt(store.url).query(SELECTION, { order: 'asc', size: 1, from: 0 }, call());
    const look = store.asked.find(({ body }) => body['aggs'] !== undefined);
    expect(look?.body).to.deep.include({ size: 0, query: { terms: { _index: [NEW] } } });
    const some = { top_hits: { size: 10, _source: ['kubernetes.docker_id'] } };
    expect(look?.body['aggs']).to.deep.equal({
      indices: { terms: { field: '_index', size: 1 }, aggs: { some } },
    });
  });
});
