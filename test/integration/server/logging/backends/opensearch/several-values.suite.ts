// Tests of records whose time or namespace has several values. Collectors write them that add the members of a line in
// JSON to its record, so tenants choose the values.
import { expect } from 'chai';
import { ScopedLogStore } from '../../../../../../server/logging/access/scope.ts';
import type { LogRecord, Selection } from '../../../../../../server/logging/store/log-store.ts';
import { call } from '../../../../../support/logging/call.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { putTemplate, type StartedNode, type Template } from './started-node.ts';

const NAMES = { namespace_name: 'shop', pod_name: 'cart-0', container_name: 'cart', docker_id: 'one' };
const SEVERAL_NAMESPACES = [
  { 'kubernetes.namespace_name': 'bank', kubernetes: NAMES },
  { kubernetes: NAMES, 'kubernetes.namespace_name': ['other', 'bank'] },
  { kubernetes: { ...NAMES, namespace_name: ['bank', 'shop'] } },
  { kubernetes: [NAMES, { namespace_name: 'bank' }] },
];
const TIME = '2026-01-15T10:00:00.000Z';
const RANGE = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
const EVERYTHING: Selection = { scope: { everything: true }, range: RANGE };
const BANK: Selection = {
  scope: { everything: false, namespaces: [{ name: 'bank', since: '2020-01-01T00:00:00.000000000Z' }] },
  range: RANGE,
};

/** `templates`: the mappings that the node supports. */
export function describeSeveralValues(
  title: string,
  node: () => StartedNode,
  templates: readonly Template[],
): void {
  describe(`records with several values in ${title}`, () => {
    async function storing(indexPrefix: string, documents: readonly object[]) {
      for (const each of documents) await node().ask('POST', `/${indexPrefix}-2026.01.15/_doc`, each);
      await node().ask('POST', `/${indexPrefix}-2026.01.15/_refresh`);
      return storeAt(node().url, { indexPrefix });
    }

    for (const template of templates) {
      it(`of the namespace belong to no single namespace, with the ${template} mapping`, async () => {
        const indexPrefix = `namespaces-${template}`;
        await putTemplate(node(), indexPrefix, template);
        const own = { log: 'its own', kubernetes: { ...NAMES, namespace_name: 'bank' } };
        const forged = SEVERAL_NAMESPACES.map((members) => ({ log: 'forged', ...members }));
        const store = await storing(
          indexPrefix,
          [own, ...forged].map((each) => ({ time: TIME, ...each })),
        );
        const scoped = new ScopedLogStore(store, { warn: () => undefined });
        const page = { order: 'asc', size: 100, from: 0 } as const;
        const { records, shortfalls } = await scoped.query(BANK, page, call());
        expect(records.map(({ log }) => log)).to.deep.equal(['its own']);
        expect(shortfalls).to.have.nested.property('[0].reason', 'NotCovered');
        const all = await scoped.query(EVERYTHING, page, call());
        expect(all.records.map(({ namespace }) => namespace).sort()).to.deep.equal([
          'bank',
          'bank,shop',
          'shop,bank',
          'shop,bank',
          'shop,other,bank',
        ]);
        await store.run(AbortSignal.abort());
      });
    }

    it('of the time fail no query, and end no sequence of pages', async () => {
      const times = [-9e15, 253_402_300_800_000, 8_640_000_000_000_001, 9e15, '1969-12-31T23:59:59.999Z'];
      const store = await storing('times', [
        ...[1, 2, 3].map((n) => ({ time: TIME, log: `line ${n}`, kubernetes: NAMES })),
        ...times.map((time) => ({ time: [TIME, time], log: 'forged', kubernetes: NAMES })),
      ]);
      for (const order of ['asc', 'desc'] as const) {
        const seen: LogRecord[] = [];
        for (let after: string | undefined, pages = 0; pages === 0 || after !== undefined; pages++) {
          expect(pages).to.be.below(20);
          const page = await store.query(EVERYTHING, { order, size: 1, from: 0, after }, call());
          seen.push(...page.records);
          after = page.next;
        }
        const exported: LogRecord[] = [];
        for await (const batch of store.export(EVERYTHING, order, call())) exported.push(...batch);
        for (const records of [seen, exported]) {
          expect(records.map(({ log }) => log)).to.have.members([
            ...['line 1', 'line 2', 'line 3'],
            ...times.map(() => 'forged'),
          ]);
          for (const { time } of records) expect(time).to.match(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z$/);
        }
      }
      const edges = [Date.parse(RANGE.start), Date.parse(RANGE.end)];
      const { counts } = await store.histogram(EVERYTHING, { edges }, call());
      expect(counts).to.deep.equal([3 + times.length]);
      await store.run(AbortSignal.abort());
    });
  });
}
