import { expect } from 'chai';
import { fieldTests, parseFieldSelector } from '../../../../../apis/meta/v1/field-selector.ts';

describe('parseFieldSelector', () => {
  it('parses each operator', () => {
    expect(parseFieldSelector('a.b=c,d==e,f!=g,h=')).to.deep.equal([
      { field: 'a.b', equal: true, value: 'c' },
      { field: 'd', equal: true, value: 'e' },
      { field: 'f', equal: false, value: 'g' },
      { field: 'h', equal: true, value: '' },
    ]);
  });

  it('uses the first operator of a term', () => {
    expect(parseFieldSelector('a!b=c!')).to.deep.equal([{ field: 'a!b', equal: true, value: 'c!' }]);
    expect(() => parseFieldSelector('a!==b')).to.throw('unescaped character in value');
  });

  it('unescapes commas, equals signs and backslashes of values', () => {
    expect(parseFieldSelector('a=b\\,c\\=d\\\\e')).to.deep.equal([
      { field: 'a', equal: true, value: 'b,c=d\\e' },
    ]);
  });

  it('ignores empty terms, and terms with an operator only', () => {
    expect(parseFieldSelector(',,')).to.deep.equal([]);
    expect(parseFieldSelector('=,==,!=')).to.deep.equal([]);
  });

  for (const [text, message] of [
    ['a', "invalid selector: 'a'; can't understand 'a'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ] as const) {
    it(`reports the error in ${text}`, () => {
      expect(() => parseFieldSelector(text)).to.throw(message);
    });
  }

  for (const [text, value, passes] of [
    ['a=b', 'b', true],
    ['a=b', 'c', false],
    ['a=b,a==b', 'b', true],
    ['a=b,a=c', 'b', false],
    ['a=b,a!=c', 'b', true],
    ['a=b,a!=b', 'b', false],
    ['a!=b,a!=c', 'c', false],
    ['a!=b,a!=c', 'd', true],
    ['a=', '', true],
    ['a!=', '', false],
  ] as const) {
    it(`${passes ? 'matches' : 'excludes'} '${value}' by ${text}`, () => {
      expect(fieldTests(parseFieldSelector(text)).get('a')?.(value)).to.equal(passes);
    });
  }

  it('tests a field once for many terms', () => {
    const text = Array.from({ length: 1000 }, (_, i) => `a!=v${i},b!=w${i}`).join(',');
    expect([...fieldTests(parseFieldSelector(text)).keys()]).to.deep.equal(['a', 'b']);
  });
});
