// Conformance tests of log stores: statistics and histograms.
import { expect } from 'chai';
import { instantOf } from '../../../server/logging/store/instant.ts';
import { milliseconds, type Subject, selection, text } from './subject.ts';

const HOUR = 3_600_000;

/** Statistics and histograms. */
export function describeCounts(subject: () => Subject): void {
  describe('counts', () => {
    it('counts lines and containers', async () => {
      const { compare, records } = subject();
      const [first] = records;
      await compare.statistics(selection(subject()));
      await compare.statistics(
        selection(subject(), { containers: { exact: [first?.kubernetes.container_name ?? ''] } }),
      );
      await compare.statistics(selection(subject(), { text: text('phrase', ['timeout']) }));
      await compare.statistics(selection(subject(), { pods: { exact: ['no-such-pod'] } }));
    });

    it('counts lines and containers of a range repeatedly', async () => {
      const { compare, range } = subject();
      const begin = milliseconds(range.start);
      for (const hours of [24, 24, 7, 1, 24]) {
        const part = { start: range.start, end: instantOf(begin + hours * HOUR) };
        await compare.statistics(selection(subject(), { range: part }));
      }
    });

    it('fills buckets of equal width, also empty ones and ones outside the range', async () => {
      const { compare, range } = subject();
      const begin = milliseconds(range.start);
      for (const [from, step, many] of [
        [begin, HOUR, 24],
        [begin, 900_000, 96],
        [begin - 5 * HOUR, HOUR, 60],
        [begin + 17, 1_234_567, 50],
        [begin - 24 * HOUR, 7 * 24 * HOUR, 2],
        [begin, 1_000, 200],
        [begin - 100 * HOUR, HOUR, 10],
      ] as const) {
        const edges = Array.from({ length: many + 1 }, (_, index) => from + index * step);
        const counts = await compare.histogram(selection(subject()), { edges });
        expect(counts).to.have.length(many);
      }
    });

    it('fills buckets of different widths', async () => {
      const { compare, range } = subject();
      const begin = milliseconds(range.start);
      for (const widths of [
        [31, 28, 31, 30].map((days) => days * 24 * HOUR),
        [HOUR, 1, 2 * HOUR, 3, 5 * HOUR, HOUR, 20 * HOUR],
        [23 * HOUR, 25 * HOUR],
      ]) {
        const edges = [begin - HOUR];
        for (const width of widths) edges.push((edges.at(-1) ?? 0) + width);
        const counts = await compare.histogram(selection(subject()), { edges });
        expect(Math.max(...counts)).to.be.above(0);
      }
    });

    it('assigns a line at an edge to the later bucket', async () => {
      const { compare, records } = subject();
      const onEdge = records.filter(({ time }) => time.endsWith('000000Z'));
      const edge = milliseconds(onEdge[Math.floor(onEdge.length / 2)]?.time ?? '');
      for (const edges of [
        [edge - 1_000, edge, edge + 1_000],
        [edge - 1, edge, edge + 1, edge + 2],
        [edge, edge + 1],
        [edge - 5, edge - 1, edge, edge + 100],
      ]) {
        await compare.histogram(selection(subject()), { edges });
      }
      const [before, at] = await compare.histogram(selection(subject()), {
        edges: [edge - 1, edge, edge + 1],
      });
      expect((before ?? 0) + (at ?? 0)).to.be.above(0);
      expect(at).to.be.above(0);
    });

    it('counts the lines of each bucket by severity', async () => {
      const { compare, range } = subject();
      const begin = milliseconds(range.start);
      const edges = Array.from({ length: 25 }, (_, index) => begin + index * HOUR);
      for (const levels of [undefined, ['info', 'error'], ['debug'], ['fatal']] as const) {
        await compare.histogram(selection(subject(), { levels }), { edges, isBySeverity: true });
      }
      await compare.histogram(selection(subject(), { pods: { exact: ['no-such-pod'] } }), {
        edges,
        isBySeverity: true,
      });
    });

    it('applies the range and the other filters to buckets', async () => {
      const { compare, range } = subject();
      const begin = milliseconds(range.start) + 3 * HOUR;
      const inside = {
        start: new Date(begin + 1_234_567).toISOString().replace('Z', '000000Z'),
        end: new Date(begin + 9 * HOUR + 7).toISOString().replace('Z', '000000Z'),
      };
      const edges = Array.from({ length: 13 }, (_, index) => begin + index * HOUR);
      const selected = selection(subject(), { range: inside, containers: { contains: ['e'] } });
      const counts = await compare.histogram(selected, { edges });
      expect(counts.reduce((sum, count) => sum + count, 0)).to.be.above(0);
      await compare.histogram(selection(subject(), { text: text('prefix', ['conn']) }), {
        edges,
      });
    });
  });
}
