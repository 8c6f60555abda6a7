import { expect } from 'chai';
import { assert, constantFrom, pre, property, string } from 'fast-check';
import { asciiPhrase } from '../../../../../../server/logging/backends/victorialogs/ascii-words.ts';
import { lineMatcher } from '../../../../../../server/logging/matching/line-matcher.ts';
import { wordsOf } from '../../../../../../server/logging/matching/words.ts';

/** Few characters, so that words, joiners and what parts them meet often. */
const line = string({ unit: constantFrom(...Array.from("aB1_.':,; -")), maxLength: 14 });

describe('a phrase of ASCII', () => {
  for (const mode of ['phrase', 'prefix'] as const) {
    it(`finds the lines of ASCII that the words themselves find, as ${mode}`, () => {
      assert(
        property(line, line, (text, said) => {
          const words = wordsOf(text);
          pre(words.length > 0);
          const expected = lineMatcher({ mode, texts: [text], caseSensitive: false }).matches(said);
          const pattern = new RegExp(asciiPhrase(words, mode === 'prefix', false));
          expect(pattern.test(said), `${pattern.source} in ${JSON.stringify(said)}`).to.equal(expected);
        }),
        { numRuns: 3_000 },
      );
    });
  }

  it('finds itself', () => {
    const pattern = new RegExp(asciiPhrase(wordsOf("don't stop a.b.c 1,024"), false, true));
    expect(pattern.test("we don't -- stop (a.b.c) 1,024;")).to.equal(true);
    expect(pattern.test("we don't -- stop (a.b.c) 1,024,5")).to.equal(false);
  });
});
