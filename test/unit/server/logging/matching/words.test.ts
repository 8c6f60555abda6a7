import { expect } from 'chai';
import { hasWord, wordSpans, wordsOf } from '../../../../../server/logging/matching/words.ts';

const CASES: readonly (readonly [text: string, words: readonly string[]])[] = [
  ['GET /index.html?x=1', ['GET', 'index', 'html', 'x', '1']],
  ['node_cpu_usage _cpu_ ___', ['node_cpu_usage', '_cpu_', '___']],
  ["my-app don't", ['my', 'app', 'don', 't']],
  ['10.0.0.1:8080 1,000;2 v1.2', ['10', '0', '0', '1', '8080', '1', '000', '2', 'v1', '2']],
  ['naïve größer привет ②', ['naïve', 'größer', 'привет', '②']],
  ['日本 ひら 가나 สวัส', ['日本', 'ひら', '가나', 'สว', 'ส']],
  ['x😀y -- .. ✔', ['x', 'y']],
];

describe('the words of a line', () => {
  for (const [text, words] of CASES) {
    it(`of ${JSON.stringify(text)} are ${words.join(' | ')}`, () => {
      expect(wordsOf(text)).to.deep.equal(words);
      expect(hasWord(text)).to.equal(true);
    });
  }

  it('are absent from a text of separators', () => {
    expect(wordsOf('-- .. 😀')).to.deep.equal([]);
    expect(hasWord('-- .. 😀')).to.equal(false);
  });

  it('have their spans in UTF-16 code units', () => {
    const line = '😀 foo.bar, 日本!';
    for (const { word, span } of wordSpans(line)) expect(line.slice(...span)).to.equal(word);
  });
});
