// Conformance tests of log stores: time ranges, and the namespaces that the caller may read.
import { expect } from 'chai';
import type { Selection } from '../../../server/logging/store/log-store.ts';
import { call } from '../../support/logging/call.ts';
import {
  ALWAYS,
  crowdedTimes,
  later,
  milliseconds,
  type Subject,
  selection,
  wholeMillisecond,
} from './subject.ts';

const PAGE = { order: 'asc', size: 100, from: 0 } as const;

/** Ranges of time and scopes. */
export function describeRanges(subject: () => Subject): void {
  describe('ranges', () => {
    it('include their start and exclude their end', async () => {
      const { compare, records, started } = subject();
      for (const crowded of crowdedTimes(records, 3)) {
        const step = started.precision === 'ns' ? 1 : 1_000_000;
        const time = started.precision === 'ns' ? crowded : wholeMillisecond(crowded);
        const after = later(time, step);
        const before = later(time, -step);
        const found: number[] = [];
        for (const range of [
          { start: time, end: after },
          { start: before, end: time },
          { start: before, end: after },
          { start: after, end: later(after, step) },
        ]) {
          const selected = selection(subject(), { range });
          found.push(await compare.page(selected, PAGE));
          await compare.statistics(selected);
        }
        expect(found[0]).to.be.above(1);
      }
    });

    it('may exceed the times of all records', async () => {
      const range = { start: ALWAYS, end: '2286-11-20T17:46:39.000000000Z' };
      const selected = selection(subject(), { range });
      const { compare, records } = subject();
      expect(await compare.page(selected, PAGE)).to.equal(records.length);
      await compare.statistics(selected);
    });
  });

  describe('scopes', () => {
    const everywhere = async (scope: Selection['scope']) => {
      const { compare, range } = subject();
      const selected = selection(subject(), { scope });
      const found = await compare.page(selected, PAGE);
      await compare.page(selected, { ...PAGE, order: 'desc' });
      await compare.statistics(selected);
      const [begin, end] = [milliseconds(range.start), milliseconds(range.end)];
      const step = Math.ceil((end - begin) / 24);
      const edges = Array.from({ length: 25 }, (_, index) => begin + index * step);
      await compare.histogram(selected, { edges });
      if (found < 3_000) await compare.export(selected, 'desc');
      return found;
    };
    const namespacesOf = () => {
      const names = subject().records.map(({ kubernetes }) => kubernetes.namespace_name);
      return [...new Set(names)].sort();
    };

    it('without namespaces select nothing', async () => {
      expect(await everywhere({ everything: false, namespaces: [] })).to.equal(0);
    });

    it('of one namespace exclude namespaces with the same prefix', async () => {
      for (const name of namespacesOf().filter((one) => one.startsWith('team-'))) {
        const found = await everywhere({ everything: false, namespaces: [{ name, since: ALWAYS }] });
        expect(found, name).to.be.above(0);
      }
    });

    it('exclude lines before `since` from pages, totals, statistics and buckets', async () => {
      const { records, started } = subject();
      for (const name of namespacesOf().slice(0, 4)) {
        const own = records.filter(({ kubernetes }) => kubernetes.namespace_name === name);
        const middle = own[Math.floor(own.length / 2)]?.time ?? '';
        const since = started.precision === 'ns' ? middle : wholeMillisecond(middle);
        const found = await everywhere({ everything: false, namespaces: [{ name, since }] });
        expect(found).to.be.above(0).and.below(own.length);
        if (started.precision === 'ns') {
          const next = await everywhere({
            everything: false,
            namespaces: [{ name, since: later(since, 1) }],
          });
          expect(next).to.be.below(found);
        }
      }
    });

    it('apply `since` for each namespace', async () => {
      const { records } = subject();
      const namespaces = namespacesOf().map((name, index) => ({
        name,
        since:
          index % 3 === 0
            ? ALWAYS
            : wholeMillisecond(records[Math.floor((records.length * index) / 45)]?.time ?? ''),
      }));
      const found = await everywhere({ everything: false, namespaces });
      expect(found).to.be.above(0).and.below(records.length);
    });

    it('may begin after the range', async () => {
      const [name = ''] = namespacesOf();
      const since = '2200-01-01T00:00:00.000000000Z';
      expect(await everywhere({ everything: false, namespaces: [{ name, since }] })).to.equal(0);
    });

    for (const [what, times] of [
      ['created before the range', 0],
      ['created at different times within the range', 1],
    ] as const) {
      it(`may have 1,500 namespaces ${what}`, async () => {
        const { range } = subject();
        const [begin, end] = [milliseconds(range.start), milliseconds(range.end)];
        const unknown = Array.from(
          { length: 1_500 - namespacesOf().length },
          (_, index) => `tenant-${index}`,
        );
        const namespaces = [...namespacesOf(), ...unknown].sort().map((name, index) => {
          const since =
            begin - 86_400_000 + times * 86_400_000 + Math.floor(((end - begin) * index) / 1_500) * times;
          return { name, since: new Date(since).toISOString().replace('Z', '000000Z') };
        });
        expect(await everywhere({ everything: false, namespaces })).to.be.above(0);
      });
    }

    it('are intersected with the requested namespaces', async () => {
      const { compare } = subject();
      const [one = '', two = '', three = ''] = namespacesOf();
      const scope = {
        everything: false,
        namespaces: [one, two].map((name) => ({ name, since: ALWAYS })),
      } as const;
      const found = await compare.page(
        selection(subject(), { scope, namespaces: { exact: [two, three] } }),
        PAGE,
      );
      const { total } = await compare.store.query(
        selection(subject(), { namespaces: { exact: [two] } }),
        PAGE,
        call(),
      );
      expect(found).to.equal(total.count).and.to.be.above(0);
      expect(
        await compare.page(selection(subject(), { scope, namespaces: { exact: [three] } }), PAGE),
      ).to.equal(0);
    });
  });
}
