import { expect } from 'chai';
import * as fc from 'fast-check';
import { BlockDecoder } from '../../../../../../../server/logging/backends/kubernetes/reading/block-decoder.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';

function decoded(
  bytes: Buffer,
  cuts: readonly number[],
  limit = 1 << 20,
): { text: string; cutLines: number } {
  const decoder = new BlockDecoder(limit);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let text = '';
  for (const [index, from] of places.entries()) text += decoder.push(bytes.subarray(from, places[index + 1]));
  text += decoder.rest();
  return { text, cutLines: decoder.cutLines };
}

describe('a block decoder', () => {
  it('gives the text, wherever the chunks are cut', () => {
    const texts = fc
      .array(fc.string({ unit: 'grapheme' }), { maxLength: 20 })
      .map((parts) => parts.join('\n'));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        expect(decoded(Buffer.from(text), cuts).text).to.equal(Buffer.from(text).toString());
      }),
    );
  });

  it('cuts a line that is too long, between two characters, and goes on with the next one', () => {
    const bytes = Buffer.from(`a\n${'ü'.repeat(100)}\nb\n`);
    const cuts = Array.from({ length: bytes.length }, (_, index) => index);
    expect(decoded(bytes, cuts, 21)).to.deep.equal({ text: `a\n${'ü'.repeat(10)}\nb\n`, cutLines: 1 });
  });

  it('holds a line that has not ended in a share of the memory, and cuts it where that has no more room', () => {
    const budget = new MemoryBudget(1 << 20);
    const decoder = new BlockDecoder(1 << 20, budget.share());
    const chunk = Buffer.alloc(10_000, 'x');
    for (let n = 0; n < 100; n++) expect(decoder.push(chunk)).to.equal('');
    expect(budget.held).to.equal(1 << 19);
    const other = new BlockDecoder(1 << 20, budget.share());
    for (let n = 0; n < 100; n++) expect(other.push(chunk)).to.equal('');
    expect(budget.held).to.equal((1 << 19) + (1 << 18));
    expect(decoder.push(Buffer.from('\nend\n'))).to.equal(`${'x'.repeat(1 << 19)}\nend\n`);
    expect(decoder.cutLines).to.equal(1);
    expect(budget.held).to.equal(1 << 18);
  });
});
