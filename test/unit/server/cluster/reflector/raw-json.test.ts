// Tests of the scanner for fields in the JSON text of an object.
import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  memberNamed,
  nestedMembers,
  objectMembers,
} from '../../../../../server/cluster/reflector/raw-json.ts';
import { jsonText } from '../../../../support/json-text.ts';

function valueOf(text: string, name: string): unknown {
  const bytes = Buffer.from(text);
  const member = memberNamed(objectMembers(bytes), name);
  return member && JSON.parse(bytes.toString('utf8', member.start, member.end));
}

describe('objectMembers', () => {
  it('finds the members that JSON.parse finds, in any formatting', () => {
    const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    fc.assert(
      fc.property(jsonText(objects), (text) => {
        const bytes = Buffer.from(text);
        const parsed: unknown = JSON.parse(bytes.toString('utf8'));
        const found = objectMembers(bytes).map(({ name, start, end }): [string, unknown] => [
          name,
          JSON.parse(bytes.toString('utf8', start, end)),
        ]);
        expect(Object.fromEntries(found)).to.deep.equal(parsed);
      }),
      { numRuns: 150 },
    );
  });

  it('returns the last of several members with one name, as JSON.parse does', () => {
    expect(valueOf('{"a":1,"a":2}', 'a')).to.equal(2);
  });

  const MALFORMED = [
    '',
    '[]',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":"x}',
    '{"a":[}',
    '{"a" 1}',
    '{"a":1 "b":2}',
  ];
  for (const text of [...MALFORMED, '{a:1}']) {
    it(`rejects the malformed text ${JSON.stringify(text)}`, () => {
      expect(() => objectMembers(Buffer.from(text))).to.throw(SyntaxError);
    });
  }
});

describe('nestedMembers', () => {
  it('finds the members of the nested object at any position and in any formatting', () => {
    const inner = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    const outer = fc
      .record({ type: fc.string(), object: inner })
      .chain(({ type, object }) =>
        fc.constantFrom({ type, object }, { object, type }, { type, object, more: { object: {} } }),
      );
    fc.assert(
      fc.property(jsonText(outer), (text) => {
        const bytes = Buffer.from(text);
        const { members, inner: found } = nestedMembers(bytes, 'object');
        expect(members).to.deep.equal(objectMembers(bytes));
        const member = memberNamed(members, 'object');
        expect(found?.bytes.toString()).to.equal(bytes.subarray(member?.start, member?.end).toString());
        expect(found?.members).to.deep.equal(objectMembers(found?.bytes ?? bytes));
      }),
      { numRuns: 150 },
    );
  });

  it('rejects malformed text', () => {
    for (const text of ['{"object":{"a":1}', '{"object":{"a":1', '{"object":{]}}']) {
      expect(() => nestedMembers(Buffer.from(text), 'object'), text).to.throw(SyntaxError);
    }
  });
});
