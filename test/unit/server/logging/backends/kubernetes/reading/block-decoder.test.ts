import { expect } from 'chai';
import * as fc from 'fast-check';
import { BlockDecoder } from '../../../../../../../server/logging/backends/kubernetes/reading/block-decoder.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';

function decoded(
  bytes: Buffer,
  cuts: readonly number[],
  limit = 1 << 20,
): { text: string; truncated: boolean } {
  const decoder = new BlockDecoder(limit);
  const offsets = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let text = '';
  for (const [index, from] of offsets.entries())
    text += decoder.push(bytes.subarray(from, offsets[index + 1]));
  text += decoder.rest();
  return { text, truncated: decoder.truncated };
}

describe('the block decoder', () => {
  it('decodes the text, wherever the chunks are split', () => {
    const texts = fc
      .array(fc.string({ unit: 'grapheme' }), { maxLength: 20 })
      .map((parts) => parts.join('\n'));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        expect(decoded(Buffer.from(text), cuts).text).to.equal(Buffer.from(text).toString());
      }),
    );
  });

  it('truncates a long line between two characters, and continues with the next line', () => {
    const bytes = Buffer.from(`a\n${'ü'.repeat(100)}\nb\n`);
    const cuts = Array.from({ length: bytes.length }, (_, index) => index);
    expect(decoded(bytes, cuts, 21)).to.deep.equal({ text: `a\n${'ü'.repeat(10)}\nb\n`, truncated: true });
  });

  it('accounts for an incomplete line, and truncates it when the memory is used up', () => {
    const budget = new MemoryBudget(1 << 20);
    const decoder = new BlockDecoder(1 << 20, budget.share());
    const chunk = Buffer.alloc(10_000, 'x');
    for (let n = 0; n < 100; n++) expect(decoder.push(chunk)).to.equal('');
    expect(budget.held).to.equal(1 << 19);
    const other = new BlockDecoder(1 << 20, budget.share());
    for (let n = 0; n < 100; n++) expect(other.push(chunk)).to.equal('');
    expect(budget.held).to.equal((1 << 19) + (1 << 18));
    expect(decoder.push(Buffer.from('\nend\n'))).to.equal(`${'x'.repeat(1 << 19)}\nend\n`);
    expect(decoder.truncated).to.equal(true);
    expect(budget.held).to.equal(1 << 18);
  });
});
