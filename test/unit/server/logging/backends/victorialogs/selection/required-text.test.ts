import { expect } from 'chai';
import { assert, constantFrom, pre, property, string } from 'fast-check';
import { LEVELS } from '../../../../../../../apis/logging/v1alpha2/log-query.ts';
import {
  anyOf,
  requiredFilter,
} from '../../../../../../../server/logging/backends/victorialogs/selection/required-text.ts';
import type { TextFilter } from '../../../../../../../server/logging/log-store.ts';
import { LEVEL_WORDS } from '../../../../../../../server/logging/matching/levels.ts';
import { lineMatcher } from '../../../../../../../server/logging/matching/line-matcher.ts';

const text = string({
  unit: constantFrom(...Array.from('aKsS1x_.-k \u212a\u017fäßµσΣ误カ\u0345ι\ufffd')),
  maxLength: 10,
});

/** Reads what is written for the store: groups of patterns, `or` between alternatives, a space between what all holds. */
function lets(filter: string, line: string): boolean {
  const groups = filter.replaceAll(/"m":~"((?:[^"\\]|\\.)*)"/g, (_, pattern: string) =>
    new RegExp((JSON.parse(`"${pattern}"`) as string).replaceAll('\\x{', '\\u{'), 'v').test(line) ? '1' : '0',
  );
  let value = groups;
  for (let before = ''; before !== value; ) {
    before = value;
    value = value
      .replaceAll(/\(([01])\)/g, '$1')
      .replaceAll(/\(([01](?: [01])+)\)/g, (_, all: string) => (all.includes('0') ? '0' : '1'))
      .replaceAll(/\(([01](?: or [01])+)\)/g, (_, some: string) => (some.includes('1') ? '1' : '0'));
  }
  if (!/^[01]$/.test(value)) throw new Error(`${filter} is read as ${value}`);
  return value === '1';
}

describe('what a line has to hold', () => {
  for (const mode of ['phrase', 'prefix', 'substring'] as const) {
    it(`rules out no line that is meant, as ${mode}`, () => {
      assert(
        property(text, text, text, text, (said, other, before, behind) => {
          const filter: TextFilter = { mode, texts: [said, other], caseSensitive: false };
          const required = requiredFilter('m', filter);
          pre(required !== undefined);
          for (const form of [said, said.toUpperCase(), said.toLowerCase(), other]) {
            const line = `${before}${form}${behind}`;
            if (!lineMatcher(filter).matches(line)) continue;
            expect(lets(required, line), `${required} lets ${JSON.stringify(line)}`).to.equal(true);
          }
        }),
        { numRuns: 3_000 },
      );
    });
  }

  const filterOf = (said: string, mode: TextFilter['mode'] = 'phrase', caseSensitive = false) =>
    requiredFilter('m', { mode, texts: [said], caseSensitive });

  it('is a part of each word, in all the ways it may be written', () => {
    expect(filterOf('Time out')).to.equal(
      '("m":~"TIM|tIM|TIm|tIm|TiM|tiM|Tim|tim" "m":~"OUT|oUT|OUt|oUt|OuT|ouT|Out|out")',
    );
  });

  it('is what a letter is in any script', () => {
    expect(filterOf('k')).to.equal('("m":~"K" or "m":~"k" or "m":~"\u212a")');
    expect(filterOf('µ')).to.equal('("m":~"µ" or "m":~"Μ" or "m":~"μ")');
    expect(filterOf('错误')).to.equal('"m":~"错误"');
  });

  it('never lets two alternatives begin alike, nor a single letter be one', () => {
    for (const said of ['x86_64', '404', '1a', 'e2e', 'größer', 'привет', 'StatefulSet', '1st', '3s5k7']) {
      const patterns = [...(filterOf(said, 'substring') ?? '').matchAll(/:~"([^"]*)"/g)].map(
        ([, one]) => one,
      );
      for (const pattern of patterns) {
        const texts = pattern?.split('|') ?? [];
        if (texts.length === 1) continue;
        const same = texts[0]?.match(/^[^\p{L}]*/u)?.[0].length ?? 0;
        texts.forEach((one, index) => {
          expect(one[same], `${said}: ${pattern}`).not.to.equal(texts[index + 1]?.[same]);
          expect(Array.from(one).length, `${said}: ${pattern}`).to.be.above(same + 1);
        });
      }
    }
  });

  it('is a run without alternatives in regular expressions', () => {
    expect(filterOf('ab+c[de]12.', 'regex', true)).to.equal('"m":~"12"');
    for (const said of ['a|b', '(ab)?', 'a.b']) expect(filterOf(said, 'regex'), said).to.equal(undefined);
  });

  it('is the beginning and the end of one of several words', () => {
    const words = LEVELS.flatMap((level) => LEVEL_WORDS[level]);
    for (const some of [words, ...words.map((word) => [word])]) {
      const filter = anyOf('m', some);
      for (const word of some) {
        for (const form of [word, word.toUpperCase(), `${word[0]?.toUpperCase()}${word.slice(1)}`]) {
          expect(lets(filter, `level=${form}!`), `${form} in ${some.join(' ')}`).to.equal(true);
        }
      }
      expect(lets(filter, 'Warteschlange voll'), some.join(' ')).to.equal(false);
    }
  });

  it('is left out where the pattern itself is as cheap', () => {
    expect(filterOf('Timeout', 'substring', true)).to.equal(undefined);
  });
});
