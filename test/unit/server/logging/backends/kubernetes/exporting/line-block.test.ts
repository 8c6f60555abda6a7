import { expect } from 'chai';
import {
  BlockReader,
  BlockWriter,
} from '../../../../../../../server/logging/backends/kubernetes/exporting/line-block.ts';

const timeOf = (n: number): string => `2026-01-01T00:00:00.${String(n).padStart(9, '0')}Z`;

describe('a block of lines', () => {
  for (const order of ['asc', 'desc'] as const) {
    for (const count of [1, 300]) {
      it(`gives each of ${count} once, and nothing behind the last one however often it is asked, ${order}`, () => {
        const texts = Array.from({ length: count }, (_, n) => `é😀 ${n} ${'x'.repeat(n % 50)}`);
        const writer = new BlockWriter(0, 1 << 16);
        for (const [n, text] of texts.entries()) {
          expect(writer.add(timeOf(n), 0, text)).to.equal(true);
          if (n % 7 === 0) writer.settle();
        }
        const block = writer.seal();
        if (!block) throw new Error('there are no lines');
        const reader = new BlockReader(block, order);
        const seen: string[] = [];
        for (let line = reader.next(); line; line = reader.next()) seen.push(line.text);
        expect(seen).to.deep.equal(order === 'asc' ? texts : texts.toReversed());
        expect(reader.next()).to.equal(undefined);
        reader.end();
      });
    }
  }
});
