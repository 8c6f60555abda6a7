import { expect } from 'chai';
import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { LEVELS } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { logData } from '../../../../../hack/log-data/log-data.ts';
import { ODD_LINES } from '../../../../../hack/log-data/odd-lines.ts';
import type { TextFilter } from '../../../../../server/logging/log-store.ts';
import { levelMatcher } from '../../../../../server/logging/matching/levels.ts';
import { lineMatcher } from '../../../../../server/logging/matching/line-matcher.ts';
import { linePattern } from '../../../../../server/logging/matching/line-pattern.ts';
import { wordsOf } from '../../../../../server/logging/matching/words.ts';
import { TEXTS } from '../../../../conformance/log-store/texts.ts';
import { levelsOf } from '../../../../support/logging/brute-force/levels.ts';
import { saysOneOf } from '../../../../support/logging/brute-force/text.ts';
import { words } from '../../../../support/logging/brute-force/words.ts';
import { LogQuestions } from '../../../../support/logging/log-questions.ts';

const records = [...logData({ lines: 3_000 }).records()];
const lines = [...new Set(records.map(({ log }) => log))];

const hard = [...ODD_LINES, ...lines.slice(0, 60)].filter((line) => line.length < 1_000);

describe('the matching of lines, beside a brute-force reading', () => {
  it('takes lines apart into the same words', () => {
    for (const line of lines) expect(wordsOf(line), line).to.deep.equal(words(line));
  });

  it('tells the same levels', () => {
    for (const level of LEVELS) {
      const matches = levelMatcher([level]);
      for (const line of lines)
        expect(matches(line), `${level}: ${line}`).to.equal(levelsOf(line).includes(level));
    }
  });

  for (const [mode, texts] of TEXTS) {
    it(`finds the same lines for hard texts by ${mode}`, function () {
      this.timeout(180_000);
      for (const text of texts) {
        for (const caseSensitive of [false, true]) {
          const filter = { mode, texts: [text], caseSensitive } as const;
          const says = saysOneOf(filter);
          const matcher = lineMatcher(filter);
          const pattern = RE2JS.compile(linePattern(filter));
          for (const line of hard) {
            const expected = says(line);
            expect(matcher.matches(line), `${text} in ${line}`).to.equal(expected);
            expect(pattern.test(line), `the pattern of ${text} in ${line}`).to.equal(expected);
          }
        }
      }
    });
  }

  it('takes pictures for words, whatever is joined with them', function () {
    this.timeout(180_000);
    const pictures = [
      ...[
        '✔',
        '⚠',
        '⚠️',
        '👍',
        '👍🏽',
        '🏽',
        '👩',
        '👩🏽',
        '👧',
        '👩\u200d👧',
        '👩\u200d👩\u200d👧',
        '❤️\u200d🔥',
      ],
      ...[
        '👩\u200d',
        '👩👧',
        '👩 👧',
        'done',
        'build done',
        'done 🏽',
        '👍 🏽',
        '👍 done',
        '🏽 done',
        '👧 x',
        'x 👧',
      ],
    ];
    const said = [
      ...pictures,
      ...pictures.flatMap((one) => pictures.map((other) => `${one}${other}`)),
      ...pictures.map((one) => `build ${one} done`),
      ...pictures.map((one) => `build${one}done - ${one}`),
      // A letter with a skin colour is nothing that anybody writes.
    ].filter((line) => !/[a-z]\p{Emoji_Modifier}/u.test(line));
    for (const mode of ['phrase', 'prefix'] as const) {
      for (const text of pictures) {
        const filter = { mode, texts: [text], caseSensitive: false } as const;
        const says = saysOneOf(filter);
        const matcher = lineMatcher(filter);
        const pattern = RE2JS.compile(linePattern(filter));
        for (const line of said) {
          expect(matcher.matches(line), `${mode} ${text} in ${line}`).to.equal(says(line));
          expect(pattern.test(line), `the pattern of ${mode} ${text} in ${line}`).to.equal(says(line));
        }
      }
    }
  });

  it('finds the same words in scripts and between underscores, in this process and as a pattern of RE2', function () {
    this.timeout(180_000);
    const pieces = [
      ...[
        'データ',
        'デ',
        'ー',
        'ｶﾞ',
        'ｶ',
        '错误',
        '代码',
        '支',
        '〆切',
        '한국',
        '한',
        'ภาษา',
        'ษา',
        '๑',
        'ភាសា។',
      ],
      ...[
        '★',
        '☕',
        '👍',
        '_',
        ' ',
        '-',
        '\u202f',
        '٫',
        '۳',
        '1',
        'a',
        'ⓐ',
        'Ⓜ',
        '˂',
        "'",
        '.',
        '\u0301',
        '🏴\u{e0067}\u{e007f}',
      ],
    ];
    const text = fc
      .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
      .map((all) => all.join(''));
    const said = fc.array(text, { minLength: 60, maxLength: 60 });
    const filter = fc.record({
      mode: fc.constantFrom('phrase', 'prefix'),
      texts: text.filter((one) => wordsOf(one).length > 0).map((one): TextFilter['texts'] => [one]),
      caseSensitive: fc.constant(false),
    });
    fc.assert(
      fc.property(filter, said, (asked, some) => {
        const matcher = lineMatcher(asked);
        const pattern = RE2JS.compile(linePattern(asked));
        for (const line of [...some, ...some.map((one) => `${one}${asked.texts[0]}`), asked.texts[0]])
          expect(pattern.test(line), line).to.equal(matcher.matches(line));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('finds the same lines, in this process and as a pattern of RE2', function () {
    this.timeout(180_000);
    const short = lines.filter((line) => line.length < 500);
    const texts = new LogQuestions(records, 'ns').texts();
    fc.assert(
      fc.property(texts, fc.subarray(short, { minLength: 200, maxLength: 200 }), (filter, some) => {
        const says = saysOneOf(filter);
        const matcher = lineMatcher(filter);
        const pattern = RE2JS.compile(linePattern(filter));
        for (const line of some) {
          const expected = says(line);
          expect(matcher.matches(line), `lineMatcher: ${line}`).to.equal(expected);
          expect(pattern.test(line), `linePattern: ${line}`).to.equal(expected);
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});
