// Tests of the parser of field selectors.
import { expect } from 'chai';
import { parseFieldSelector } from '../../../../../apis/meta/v1/field-selector.ts';

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
});
