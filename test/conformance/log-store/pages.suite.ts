// Conformance tests of log stores: pages, cursors and exports.
import { expect } from 'chai';
import { call } from '../../support/logging/call.ts';
import { expectStatus } from './comparison.ts';
import { crowdedTimes, later, type Subject, selection, text, wholeMillisecond } from './subject.ts';

const ORDERS = ['asc', 'desc'] as const;

const DIGEST = 'a'.repeat(11);
/** Cursors that no store issued. */
const FORGED = [
  ...['', 'x', '0', '-1', '%%%', '\0', '{}', '[]', 'null', '{"a":1}', '[1,2,3]', '") | delete _time'],
  ...['{"time":"x"}', '[]'].map((text) => Buffer.from(text).toString('base64url')),
  'A'.repeat(5_000),
  // Similar to cursors of VictoriaLogs, which fails at the last two times.
  ...['', ' 0', ' 1 1', ' -1'].map((rest) => `2026-01-01T00:00:00.000000000Z${rest}`),
  ...['0000-01-01T00:00:00.000000000Z 20000', '9999-12-31T23:59:59.999999999Z 20000'],
  // Similar to cursors of OpenSearch, which fails at numbers beyond 64 bits.
  ...['1', 'x.1', '1.x', '1.-1', `${2n ** 63n}.1`, `-${2n ** 63n}.1`, '1.1234567890123456', '1.1.short'],
  ...[`1.1.${DIGEST}"`, `1.1${`.${DIGEST}`.repeat(201)}`],
];

/** Pages, cursors and exports: each line once and in order. */
export function describePages(subject: () => Subject): void {
  describe('pages', () => {
    for (const order of ORDERS) {
      it(`returns pages by from and size, ${order}`, async () => {
        const { compare, records } = subject();
        for (const [from, size] of [
          [0, 10],
          [0, 1_000],
          [7, 3],
          [999, 501],
          [records.length - 5, 10],
          [records.length, 10],
          [records.length + 5, 10],
        ] as const) {
          if (from > 10_000) continue;
          await compare.page(selection(subject()), { order, from, size });
        }
      });

      it(`returns lines of equal times once by cursor, ${order}`, async () => {
        const { compare, records } = subject();
        for (const [index, time] of crowdedTimes(records, 2).entries()) {
          const range = {
            start: wholeMillisecond(later(time, -999_999)),
            end: wholeMillisecond(later(time, 999_999)),
          };
          await compare.walk(selection(subject(), { range }), order, index === 0 ? 1 : 3);
        }
      });

      it(`continues by cursor after skipped lines of equal times, ${order}`, async () => {
        const { compare, records } = subject();
        for (const time of crowdedTimes(records, 2)) {
          const range = {
            start: wholeMillisecond(later(time, -999_999)),
            end: wholeMillisecond(later(time, 999_999)),
          };
          const selected = selection(subject(), { range });
          const all = await compare.store.query(selected, { order, size: 1_000, from: 0 }, call());
          for (const from of [1, 2, all.records.length - 2]) {
            const page = await compare.store.query(selected, { order, size: 1, from }, call());
            expect(page.records).to.deep.equal(all.records.slice(from, from + 1));
            if (page.next === undefined) continue;
            const rest = { order, size: 1_000, from: 0, after: page.next } as const;
            const { records: others } = await compare.store.query(selected, rest, call());
            expect(others, `behind ${from + 1} of ${all.records.length}`).to.deep.equal(
              all.records.slice(from + 1),
            );
          }
        }
      });

      it(`returns the same order on small and large pages, ${order}`, async () => {
        const { compare, records } = subject();
        const { start } = subject().range;
        const selected = selection(subject(), {
          range: { start, end: wholeMillisecond(records[800]?.time ?? '') },
          text: text('phrase', ['connection', 'timeout', 'order', 'user']),
        });
        if (!(await compare.supports(selected))) return;
        const [small, large] = [
          await compare.walk(selected, order, 23),
          await compare.walk(selected, order, 1_000),
        ];
        expect(small.length).to.be.above(100);
        expect(small).to.deep.equal(large);
        // The export may order equal times differently.
        const exported = await compare.export(selected, order);
        expect(exported.length).to.equal(large.length);
      });

      it(`exports everything, ${order}`, async () => {
        const { compare, records } = subject();
        expect(await compare.export(selection(subject()), order)).to.have.length(records.length);
      });
    }

    it('returns only the total for a size of 0', async () => {
      const { compare, records } = subject();
      const found = await compare.page(selection(subject()), { order: 'desc', size: 0, from: 0 });
      expect(found).to.equal(records.length);
    });

    it('returns the same page for the same request', async () => {
      const { compare } = subject();
      const request = { order: 'desc', size: 200, from: 100 } as const;
      const [one, two] = [
        await compare.store.query(selection(subject()), request, call()),
        await compare.store.query(selection(subject()), request, call()),
      ];
      expect(one.records).to.deep.equal(two.records);
    });

    it('returns empty results for an empty range', async () => {
      const { compare, range } = subject();
      const before = { start: '2001-01-01T00:00:00.000000000Z', end: '2001-01-01T00:01:00.000000000Z' };
      const empty = { start: range.end, end: range.end };
      for (const nothing of [before, empty, { start: range.start, end: range.start }]) {
        const selected = selection(subject(), { range: nothing });
        expect(await compare.page(selected, { order: 'asc', size: 10, from: 0 })).to.equal(0);
        await compare.statistics(selected);
        expect(await compare.export(selected, 'desc')).to.deep.equal([]);
      }
    });

    it('returns nothing outside the selection for any cursor', async () => {
      const { compare, records } = subject();
      const [first] = records;
      const own = selection(subject(), { namespaces: { exact: [first?.kubernetes.namespace_name ?? ''] } });
      const others = await compare.store.query(
        selection(subject()),
        { order: 'asc', size: 2, from: 0 },
        call(),
      );
      const genuine = others.next ?? '';
      for (const after of [genuine, genuine.slice(0, -1), genuine.slice(1), `${genuine}x`, ...FORGED]) {
        const answer = compare.store.query(own, { order: 'asc', size: 50, from: 0, after }, call());
        const page = await answer.catch((error: unknown) => error);
        if (page instanceof Error) {
          expectStatus(page, 400);
          expect(page, after).to.have.nested.property('details.causes[0].field', 'cursor');
          continue;
        }
        const namespaces = new Set((await answer).records.map(({ namespace }) => namespace));
        expect([...namespaces], after)
          .to.be.an('array')
          .that.satisfies(onlyOf(first?.kubernetes.namespace_name));
      }
    });
  });
}

function onlyOf(name: string | undefined): (names: readonly string[]) => boolean {
  return (names) => names.every((one) => one === name);
}
