import { expect } from 'chai';
import { hasWord, wordSpans, wordsOf } from '../../../../../server/logging/matching/words.ts';

const CASES: readonly (readonly [text: string, words: readonly string[]])[] = [
  ['GET /index.html?x=1', ['GET', 'index.html', 'x', '1']],
  ['node_cpu_usage _cpu_ ___', ['node_cpu_usage', '_cpu_']],
  ['my-app', ['my', 'app']],
  ["don't 'quoted'", ["don't", 'quoted']],
  ['10.0.0.1:8080 1,000;2 v1.2', ['10.0.0.1', '8080', '1,000;2', 'v1.2']],
  ['a.1 1.a a..b foo:bar foo:1', ['a', '1', '1', 'a', 'a', 'b', 'foo:bar', 'foo', '1']],
  ['2026-11-21T10:00:00.5Z', ['2026', '11', '21T10', '00', '00.5Z']],
  ['naïve nai\u0308ve', ['naïve', 'nai\u0308ve']],
  [
    'soft\u00adly bom\ufeff \u200eleft zero\u200bwidth',
    ['soft\u00adly', 'bom\ufeff', 'left', 'zero', 'width'],
  ],
  ['日本 ひら テスト 가나', ['日', '本', 'ひ', 'ら', 'テスト', '가나']],
  ['ｶﾞｽ ﾃﾞｰﾀ 〆切', ['ｶﾞｽ', 'ﾃﾞｰﾀ', '切']],
  ['หน้า๑๒ ភាសា។ မြန်မာ၊', ['หน้า', '๑๒', 'ភាសា', 'မြန်မာ']],
  ['1\u202f024 ۳٫۵', ['1\u202f024', '۳٫۵']],
  ['★★ ready ☆', ['★', '★', 'ready']],
  [
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} won',
    ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 'won'],
  ],
  ['สวัสดี ok', ['สวัสดี', 'ok']],
  ['x😀y', ['x', '😀', 'y']],
  ['build ✔ done ⚠️ℹ ©', ['build', '✔', 'done', '⚠️', 'ℹ', '©']],
  ['👍🏽ok 👍 🏽', ['👍🏽', 'ok', '👍', '🏽']],
  ['👩‍👩‍👧x ❤️‍🔥👩👧', ['👩‍👩‍👧', 'x', '❤️‍🔥', '👩', '👧']],
  ['👩‍ 👧 x‍👧', ['👩‍', '👧', 'x‍', '👧']],
  ['timeoutⓐ:Ⓑ Ⓜ a˂b ՜x ׳', ['timeoutⓐ:Ⓑ', 'Ⓜ', 'a˂b', '՜x', '׳']],
  ['-- .. ②', []],
];

describe('the words of a line', () => {
  for (const [text, words] of CASES) {
    it(`of ${JSON.stringify(text)} are ${words.length === 0 ? 'none' : words.join(' | ')}`, () => {
      expect(wordsOf(text)).to.deep.equal(words);
    });
  }

  it('stand where they are said to stand', () => {
    const line = '😀 foo.bar, 日本!';
    for (const { word, span } of wordSpans(line)) expect(line.slice(...span)).to.equal(word);
  });

  for (const part of [
    '_',
    '_\u0301',
    '\u0301',
    'a_',
    '\u200d',
    '👍\u0301',
    'カ_',
    'a.',
    '1,',
    'ก\u0301',
    '🏽',
  ]) {
    it(`are looked for in linear time in a line of nothing but ${JSON.stringify(part)}`, () => {
      const line = part.repeat(60_000);
      const begin = performance.now();
      hasWord(line);
      wordSpans(`${line} `);
      // In the square of its length, some took half a minute.
      expect(performance.now() - begin).to.be.lessThan(2_000);
    });
  }
});
