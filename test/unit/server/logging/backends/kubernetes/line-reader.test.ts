// Tests of the parser that splits pod log responses into lines.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { TimeSlicer } from '../../../../../../server/concurrency/time-slicer.ts';
import { LineReader, newExtent } from '../../../../../../server/logging/backends/kubernetes/line-reader.ts';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/memory-budget.ts';
import { at } from './instants.ts';

/** A reader with an unlimited time slice, and the lines that it has read. */
function newReader(memory?: ReturnType<MemoryBudget['share']>) {
  const lines: string[] = [];
  const extent = newExtent();
  const onLine = (_: string, text: string): void => void lines.push(text);
  const reader = new LineReader({ onLine, extent, slicer: new TimeSlicer(Number.POSITIVE_INFINITY), memory });
  const push = (chunk: string | Buffer): void => {
    reader.push(Buffer.from(chunk));
    reader.read(undefined);
  };
  return { reader, lines, extent, push };
}

const { time } = at(1);

describe('the line reader', () => {
  it('reads the same lines wherever the chunks are split', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
          { maxLength: 20 },
        ),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (texts, cuts) => {
          const bytes = Buffer.from(texts.map((text) => `${time} ${text}`).join('\n'));
          const offsets = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
          const { reader, lines, push } = newReader();
          for (const [index, from] of [0, ...offsets].entries()) push(bytes.subarray(from, offsets[index]));
          await reader.readRest(true);
          expect(lines).to.deep.equal(texts.map((text) => Buffer.from(text).toString()));
          expect(reader.message).to.equal(undefined);
        },
      ),
    ));

  it('accounts for an incomplete line, and truncates it when the memory is used up', () => {
    const budget = new MemoryBudget(1 << 20);
    const [one, other] = [newReader(budget.share()), newReader(budget.share())];
    for (const { push } of [one, other]) {
      push(`${time} `);
      for (let n = 0; n < 100; n++) push('x'.repeat(10_000));
    }
    expect(budget.held).to.be.within((1 << 19) + (1 << 18), (1 << 19) + (1 << 18) + 100);
    one.push('\n');
    expect(one.lines[0]).to.have.length((1 << 19) - time.length - 1);
    expect(one.extent.truncated).to.equal(true);
    expect(budget.held).to.be.within(1 << 18, (1 << 18) + 100);
  });
});
