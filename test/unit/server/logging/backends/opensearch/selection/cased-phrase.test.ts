import { expect } from 'chai';
import { wordsOf } from '../../../../../../../apis/logging/v1alpha2/text-search.ts';
import { casedPhrase } from '../../../../../../../server/logging/backends/opensearch/selection/cased-phrase.ts';
import { lineMatcher } from '../../../../../../../server/logging/matching/line-matcher.ts';

/** Lucene escapes more than JavaScript allows, and means the whole value. */
function expression(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern.replaceAll(/\\([^\p{L}\p{N}\\^$.*+?()[\]{}|/-])/gu, '$1')})$`, 'su');
}

function finds(text: string, line: string, mode: 'phrase' | 'prefix'): boolean {
  const found = expression(casedPhrase(wordsOf(text), mode === 'prefix')).test(line);
  const said = lineMatcher({ mode, texts: [text], caseSensitive: true }).matches(line);
  expect(found, `${mode} ${text} in ${line}`).to.equal(said);
  return found;
}

describe('words whose case counts, as a pattern of OpenSearch', () => {
  it('are found beside the signs of other scripts', () => {
    const signs = Array.from('՝։֊־׀׃،؛؟٪٭۔।॥།༌၊။፡።፣។៕᠂᠃、。「」・！？·');
    for (const text of ['Server', 'Бд', 'Բարեւ', 'x86_64', 'Server Down', 'שלום Server']) {
      for (const sign of signs) {
        for (const line of [`${sign}${text}`, `ok ${sign}${text} x`, `${text}${sign}`, `x ${text}${sign}x`]) {
          if (wordsOf(line).some((word) => word.includes(sign))) continue;
          expect(finds(text, line, 'phrase')).to.equal(true);
          expect(finds(text, line, 'prefix')).to.equal(true);
        }
      }
    }
  });

  it('are found behind pictures, with what tells how these are shown', () => {
    for (const line of [
      '⚠️Warning',
      '✔️Warning x',
      'x 👩‍💻Warning',
      '❤️‍🔥Warning',
      '👍🏽Warning',
      '👩‍Warning',
    ]) {
      expect(finds('Warning', line, 'phrase')).to.equal(true);
    }
  });

  it('are found behind a number and a sign', () => {
    for (const line of ['12.Server', '٣٤.Server', '3:Server', '٣:Server x']) {
      expect(finds('Server', line, 'phrase')).to.equal(true);
    }
  });

  it('are not found within longer words', () => {
    const joined = ['xServer', 'Server2', 'Server_', 'Server를', 'وServer', 'όServer', 'ԲServer'];
    for (const line of joined) {
      expect(finds('Server', line, 'phrase')).to.equal(false);
    }
  });
});
