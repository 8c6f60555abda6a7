import * as fc from 'fast-check';
import type { Selection } from '../../../server/logging/log-store.ts';
import { call } from '../../support/logging/call.ts';
import { LogQuestions } from '../../support/logging/log-questions.ts';
import type { Subject } from './subject.ts';

const RUNS = 60;
/** Walks through more lines than these would take long. */
const SHORT_WALK = 200;

/** Any question has the answer of the brute-force reading. On a failure fast-check prints the seed. */
export function describeProperties(subject: () => Subject): void {
  describe('any question', () => {
    const check = async (
      rest: readonly fc.Arbitrary<number>[],
      ask: (selection: Selection, numbers: readonly number[]) => Promise<void>,
    ) => {
      const { records, started, traits } = subject();
      const questions = new LogQuestions(records, started.precision, traits);
      const property = fc.asyncProperty(questions.selections(), fc.tuple(...rest), ask);
      // Shrinking would ask for minutes; a question is short enough to be read.
      await fc.assert(property, { numRuns: traits.runs ?? RUNS, endOnFailure: true });
    };

    it('finds the page that a reader of all lines finds', async () => {
      await check(
        [fc.nat(60), fc.integer({ min: 0, max: 120 }), fc.nat(1)],
        async (selection, [from = 0, size = 0, up]) => {
          await subject().compare.page(selection, { order: up === 1 ? 'asc' : 'desc', from, size });
        },
      );
    });

    it('counts the lines and containers that a reader of all lines counts', async () => {
      await check([], (selection) => subject().compare.statistics(selection));
    });

    it('fills the buckets that a reader of all lines fills', async () => {
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

    it('fills buckets of any widths', async () => {
      const { range } = subject();
      const [begin, end] = [Date.parse(range.start), Date.parse(range.end)];
      const edge = fc.integer({ min: begin - 3_600_000, max: end });
      await check([edge, edge, edge, edge], async (selection, numbers) => {
        const edges = [...new Set(numbers)].sort((a, b) => a - b);
        if (edges.length > 1) await subject().compare.histogram(selection, { edges });
      });
    });

    it('is followed from its beginning on', async () => {
      await check([], (selection) => subject().compare.follow(selection));
    });

    it('is walked through, and exported, line by line', async () => {
      await check([fc.nat(1), fc.integer({ min: 1, max: 50 })], async (selection, [up, size = 1]) => {
        const { compare } = subject();
        const order = up === 1 ? 'asc' : 'desc';
        await compare.export(selection, order);
        const { total } = await compare.oracle.query(selection, { order, size: 0, from: 0 }, call());
        const isCompared = (await compare.supports(selection)) && compare.isDefined(selection);
        if (total.count <= SHORT_WALK && isCompared)
          await compare.walk(selection, order, Math.max(size, Math.ceil(total.count / 20)));
      });
    });
  });
}
