// Tests of wordsOf, which splits a text into words.
import { expect } from 'chai';
import { hasWord, wordsOf } from '../../../../../apis/logging/v1alpha2/log-query-validation.ts';

describe('wordsOf', () => {
  for (const [text, words] of [
    ['GET /index.html?x=1', ['GET', 'index', 'html', 'x', '1']],
    ['node_cpu_usage _cpu_ ___', ['node_cpu_usage', '_cpu_', '___']],
    ["my-app don't", ['my', 'app', 'don', 't']],
    ['10.0.0.1:8080 v1.2', ['10', '0', '0', '1', '8080', 'v1', '2']],
    ['naïve größer привет ②', ['naïve', 'größer', 'привет', '②']],
    ['日本 ひら 가나', ['日本', 'ひら', '가나']],
    ['x😀y -- .. ✔', ['x', 'y']],
    ['-- .. 😀', []],
  ] as const) {
    it(`splits ${JSON.stringify(text)} into ${words.length} words`, () => {
      expect(wordsOf(text)).to.deep.equal(words);
      expect(hasWord(text)).to.equal(words.length > 0);
    });
  }
});
