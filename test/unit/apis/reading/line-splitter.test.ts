// Tests of the function that splits a watch response into lines.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { LineSplitter, LineTooLongError } from '../../../../apis/reading/line-splitter.ts';

function split(chunks: readonly string[], limit = 1000): string[] {
  const splitter = new LineSplitter(limit);
  return chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)).map(String).toArray());
}

describe('LineSplitter', () => {
  it('yields the same lines for any chunking', () => {
    const lines = fc.array(fc.string({ minLength: 1 }).map((line) => line.replaceAll('\n', '~')));
    fc.assert(
      fc.property(lines, fc.array(fc.nat(300)), (lines, cuts) => {
        const text = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
          (a, b) => a - b,
        );
        const splitter = new LineSplitter(10_000);
        const found = at.flatMap((from, i) =>
          splitter
            .push(text.subarray(from, at[i + 1] ?? from))
            .map(String)
            .toArray(),
        );
        expect(found).to.deep.equal(lines);
        expect(splitter.midLine).to.equal(false);
      }),
    );
  });

  it('rejects a line over the limit before its end', () => {
    expect(split(['12345\n'], 5)).to.deep.equal(['12345']);
    expect(() => split(['123', '456'], 5)).to.throw(LineTooLongError, '5 bytes');
    expect(() => split(['123456\n'], 5)).to.throw(LineTooLongError);
  });
});
