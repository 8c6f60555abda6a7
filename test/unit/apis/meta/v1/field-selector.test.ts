// Tests of the parser of field selectors.
import { expect } from 'chai';
import { parseFieldSelector } from '../../../../../apis/meta/v1/field-selector.ts';

describe('parseFieldSelector', () => {
  it('parses each operator and escape, and ignores empty terms', () => {
    expect(parseFieldSelector('a.b=c,d==e,f!=g,h=')).to.deep.equal([
      { field: 'a.b', equal: true, value: 'c' },
      { field: 'd', equal: true, value: 'e' },
      { field: 'f', equal: false, value: 'g' },
      { field: 'h', equal: true, value: '' },
    ]);
    expect(parseFieldSelector('a=b\\,c\\=d\\\\e')).to.deep.equal([
      { field: 'a', equal: true, value: 'b,c=d\\e' },
    ]);
    for (const text of [',,', '=,==,!=']) expect(parseFieldSelector(text), text).to.deep.equal([]);
  });

  it('uses the first operator of a term, and reports errors as kube-apiserver', () => {
    expect(parseFieldSelector('a!b=c!')).to.deep.equal([{ field: 'a!b', equal: true, value: 'c!' }]);
    for (const [text, message] of [
      ['a!==b', 'unescaped character in value'],
      ['a', "invalid selector: 'a'; can't understand 'a'"],
      ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
      ['a=\\b', 'invalid field selector: invalid escape sequence: \\b'],
      ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
    ] as const) {
      expect(() => parseFieldSelector(text), text).to.throw(message);
    }
  });
});
