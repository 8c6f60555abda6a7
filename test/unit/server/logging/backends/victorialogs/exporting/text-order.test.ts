import { expect } from 'chai';
import * as fc from 'fast-check';
import { compareTexts } from '../../../../../../../server/logging/backends/victorialogs/exporting/text-order.ts';

/** Of two texts, as they stand in JSON. */
function compared(left: string, right: string): number {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  const length = Math.min(one.length, other.length);
  return Math.sign(compareTexts(Buffer.concat([one, other]), 0, one.length, length));
}

function expected(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** As the store writes it. */
const written = (text: string): string =>
  JSON.stringify(text).replaceAll("'", '\\u0027').replaceAll('<', '\\u003c');

/** Of one byte to four, of one unit and two, and such as look like escapes or are some. */
const CHARACTERS = [
  ...['a', 'n', 'u', '0', '"', '\\', '/', '\n', '\b', '\u0001', '\u001f', '<', '\u007f'],
  ...['é', 'ê', '错', '误', '\ud7ff', '\ue000', '\uffff', '😀', '😁', '𐀀', '\u{10ffff}'],
];

describe('the order of texts in JSON', () => {
  it('is told by their bytes, whatever they are written in', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }).map((each) => each.toWellFormed()),
      fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 4 }),
    );
    fc.assert(
      fc.property(text, text, text, (begin, left, right) => {
        const [one, other] = [begin + left, begin + right];
        expect(compared(written(one), written(other)), `${one} and ${other}`).to.equal(expected(one, other));
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes no backslash that is escaped for the beginning of an escape', () => {
    for (const backslashes of ['\\', '\\\\', '\\\\\\'])
      for (const [left, right] of [
        ['n', 'o'],
        ['t', 'n'],
        ['u0041', 'u0039'],
        ['u000b', 'u000a'],
        ['', 'n'],
        ['"', 'n'],
      ] as const) {
        const [one, other] = [backslashes + left, backslashes + right];
        expect(compared(written(one), written(other)), `${one} and ${other}`).to.equal(expected(one, other));
      }
  });

  it('is not told by the bytes of a character that is written in two ways', () => {
    for (const [left, right] of [
      ['"<"', '"\\u003c"'],
      ['"\\ud83d\\ude00"', '"😀"'],
    ] as const)
      expect(Number.isNaN(compared(left, right)), left).to.equal(true);
  });
});
