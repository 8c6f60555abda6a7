import { expect } from 'chai';
import { assert, constantFrom, pre, property, string } from 'fast-check';
import { wordsOf } from '../../../../../../../apis/logging/v1alpha2/text-search.ts';
import {
  type Evidence,
  evidenceOf,
} from '../../../../../../../server/logging/backends/victorialogs/selection/evidence.ts';
import { lineMatcher } from '../../../../../../../server/logging/matching/line-matcher.ts';

/** Few characters, so that words, joiners and what parts them meet often. */
const ascii = string({ unit: constantFrom(...Array.from("aB1_.':,; -")), maxLength: 14 });
/** Letters with marks, forms that case folding knows, words that end where the next begins, joiners beyond ASCII. */
const any = string({
  unit: constantFrom(...Array.from('aKsSİ1_.\':, "\u212a\u017fäß\u0308\u200dσςΣι\u0345误错カก😀’·‿Ⅷ\ufffd')),
  maxLength: 12,
});

function tells({ plain, pattern }: Evidence, line: string): boolean {
  return plain.some((text) => line.includes(text)) || new RegExp(pattern, 'v').test(line);
}

/** `\x{…}` is how RE2 writes what JavaScript writes as `\u{…}`. */
function readable(evidence: Evidence | undefined): Evidence | undefined {
  return evidence && { ...evidence, pattern: evidence.pattern.replaceAll('\\x{', '\\u{') };
}

describe('the evidence for words', function () {
  this.timeout(300_000);
  for (const mode of ['phrase', 'prefix'] as const) {
    for (const caseSensitive of [false, true]) {
      const found = (text: string, line: string) => {
        const evidence = readable(evidenceOf(wordsOf(text), mode === 'prefix', caseSensitive));
        pre(evidence !== undefined);
        const isMeant = lineMatcher({ mode, texts: [text], caseSensitive }).matches(line);
        return {
          isFound: tells(evidence, line),
          isMeant,
          said: `${evidence.pattern} in ${JSON.stringify(line)}`,
        };
      };
      const how = `as ${mode}${caseSensitive ? ' that minds case' : ''}`;

      it(`is in all lines of ASCII that have the words, ${how}`, () => {
        assert(
          property(ascii, ascii, (text, line) => {
            const { isFound, isMeant, said } = found(text, line);
            expect(isFound, said).to.equal(isMeant);
          }),
          { numRuns: 3_000 },
        );
      });

      it(`is in no line that has not the words, whatever its letters, ${how}`, () => {
        assert(
          property(any, any, any, any, (text, before, behind, odd) => {
            for (const line of [
              odd,
              `${before}${text}${behind}`,
              `${before}${text.toUpperCase()}${behind}`,
            ]) {
              const { isFound, isMeant, said } = found(text, line);
              if (isFound) expect(isMeant, said).to.equal(true);
            }
          }),
          { numRuns: 5_000 },
        );
      });
    }
  }

  it('is there for words that are not ASCII', () => {
    const evidence = readable(evidenceOf(['größer', '错误'], true, false));
    expect(evidence && tells(evidence, 'Wert GRÖßER 错误码')).to.equal(true);
    expect(evidence && tells(evidence, 'Wertgrößer 错误码')).to.equal(false);
  });

  it('has a text that most lines have, also where small and capital letters are others', () => {
    for (const word of ['İ', 'İstanbul', 'ŉ', 'ΐ', 'ß', 'ﬁ', 'ǅ', 'K']) {
      const { plain = [] } = evidenceOf(wordsOf(word), false, false) ?? {};
      expect(plain, word).to.include(` ${word} `);
    }
  });
});
