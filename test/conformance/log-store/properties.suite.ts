// Conformance tests of log stores: random log queries (property tests).
import * as fc from 'fast-check';
import type { Selection } from '../../../server/logging/store/log-store.ts';
import { call } from '../../support/logging/call.ts';
import { RandomSelections } from '../../support/logging/random-selections.ts';
import type { Subject } from './subject.ts';

const RUNS = 20;
/** Maximum number of lines for a walk through small pages. */
const SHORT_WALK = 200;

/** Random selections have the results of the brute-force implementation. fast-check prints the seed of a failure. */
export function describeProperties(subject: () => Subject): void {
  describe('a random selection', () => {
    const check = async (
      rest: readonly fc.Arbitrary<number>[],
      ask: (selection: Selection, numbers: readonly number[]) => Promise<void>,
    ) => {
      const { records, started, traits } = subject();
      const selections = new RandomSelections(records, started.precision, traits);
      const property = fc.asyncProperty(selections.selections(), fc.tuple(...rest), ask);
      // Shrinking would take minutes, and selections are short.
      await fc.assert(property, { numRuns: traits.runs ?? RUNS, endOnFailure: true });
    };

    it('returns the expected page', async () => {
      await check(
        [fc.nat(60), fc.integer({ min: 0, max: 120 }), fc.nat(1)],
        async (selection, [from = 0, size = 0, up]) => {
          await subject().compare.page(selection, { order: up === 1 ? 'asc' : 'desc', from, size });
        },
      );
    });

    it('returns the expected statistics', async () => {
      await check([], (selection) => subject().compare.statistics(selection));
    });

    it('returns the expected histogram', async () => {
      const { range } = subject();
      const [begin, end] = [Date.parse(range.start), Date.parse(range.end)];
      await check(
        [
          fc.integer({ min: begin - 3_600_000, max: end }),
          fc.integer({ min: 1, max: 7_200_000 }),
          fc.integer({ min: 1, max: 50 }),
        ],
        async (selection, [from = 0, step = 1, many = 1]) => {
          const edges = Array.from({ length: many + 1 }, (_, index) => from + index * step);
          await subject().compare.histogram(selection, { edges });
        },
      );
    });

    it('returns the expected histogram of unequal buckets', async () => {
      const { range } = subject();
      const [begin, end] = [Date.parse(range.start), Date.parse(range.end)];
      const edge = fc.integer({ min: begin - 3_600_000, max: end });
      await check([edge, edge, edge, edge], async (selection, numbers) => {
        const edges = [...new Set(numbers)].sort((a, b) => a - b);
        if (edges.length > 1) await subject().compare.histogram(selection, { edges, isBySeverity: true });
      });
    });

    it('is followed from its start', async () => {
      await check([], (selection) => subject().compare.follow(selection));
    });

    it('is paged and exported completely', async () => {
      await check([fc.nat(1), fc.integer({ min: 1, max: 50 })], async (selection, [up, size = 1]) => {
        const { compare } = subject();
        const order = up === 1 ? 'asc' : 'desc';
        await compare.export(selection, order);
        const { total } = await compare.oracle.query(selection, { order, size: 0, from: 0 }, call());
        const isCompared = (await compare.supports(selection)) && compare.isDefined(selection);
        if (total.count <= SHORT_WALK && isCompared)
          await compare.walk(selection, order, Math.max(size, Math.ceil(total.count / 8)));
      });
    });
  });
}
