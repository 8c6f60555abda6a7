// Tests of the type guards and accessors for untrusted values.
import { expect } from 'chai';
import {
  array,
  isRecord,
  optionalText,
  record,
  recordIn,
  text,
  texts,
} from '../../../../apis/reading/unknown-value.ts';

describe('an untrusted value', () => {
  it('is a record if it is an object, not an array', () => {
    expect([{}, { a: 1 }].every(isRecord)).to.equal(true);
    expect([null, undefined, [], [{}], 'a', 1, true].some(isRecord)).to.equal(false);
  });

  it('is read as empty if it has another type', () => {
    for (const other of [null, undefined, 1, true]) {
      expect([record(other), array(other), text(other), texts(other)]).to.deep.equal([{}, [], '', {}]);
    }
    expect([null, 1, ['a']].map(optionalText)).to.deep.equal([undefined, undefined, undefined]);
    expect([record(['a']), array({ a: 1 }), text(['a'])]).to.deep.equal([{}, [], '']);
  });

  it('has an empty record for a missing member', () => {
    for (const other of [null, 'a', [], {}, { spec: [] }, { spec: 'a' }]) {
      expect(recordIn(other, 'spec')).to.deep.equal({});
    }
    expect(recordIn({ spec: { a: 1 } }, 'spec')).to.deep.equal({ a: 1 });
  });

  it('is kept if it has the right type', () => {
    const object = { a: 'b', c: 1 };
    expect(record(object)).to.equal(object);
    expect(array([1])).to.deep.equal([1]);
    expect([text('a'), optionalText('a'), optionalText('')]).to.deep.equal(['a', 'a', '']);
    expect(texts(object)).to.deep.equal({ a: 'b' });
  });
});
