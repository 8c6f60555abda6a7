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

describe('the members of raw JSON', () => {
  it('are the members that JSON.parse finds, whatever the text looks like', () => {
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
      { numRuns: 500 },
    );
  });

  it('are found in a core watch event, which begins with kind and apiVersion', () => {
    const line = '{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}}';
    expect(valueOf(line, 'type')).to.equal('ADDED');
    expect(valueOf(line, 'object')).to.deep.equal({
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name: 'a' },
    });
  });

  it('are found when the object comes before the type and holds members of the same names', () => {
    const line = '{"object":{"type":"\\"}{","object":{}},"type":"MODIFIED"}';
    expect(valueOf(line, 'type')).to.equal('MODIFIED');
    expect(valueOf(line, 'object')).to.deep.equal({ type: '"}{', object: {} });
  });

  it('are found when the name is written with escapes', () => {
    expect(valueOf('{"\\u006bind":"Node"}', 'kind')).to.equal('Node');
  });

  it('of the same name give the last one, as JSON.parse does', () => {
    expect(valueOf('{"a":1,"a":2}', 'a')).to.equal(2);
  });

  for (const text of [
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
    '{a:1}',
  ]) {
    it(`are refused in the malformed text ${JSON.stringify(text)}`, () => {
      expect(() => objectMembers(Buffer.from(text))).to.throw(SyntaxError);
    });
  }
});

describe('the members of an object within raw JSON', () => {
  it('are those that it has by itself, wherever it stands and whatever the text looks like', () => {
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
      { numRuns: 500 },
    );
  });

  it('of the same name are those of the last one', () => {
    const { inner } = nestedMembers(Buffer.from('{"object":{"a":1},"object":{"b":2}}'), 'object');
    expect(inner?.members.map(({ name }) => name)).to.deep.equal(['b']);
    expect(nestedMembers(Buffer.from('{"object":{"a":1},"object":2}'), 'object').inner).to.equal(undefined);
  });

  it('are not there when there is no object by that name', () => {
    expect(nestedMembers(Buffer.from('{"object":[{}]}'), 'object').inner).to.equal(undefined);
    expect(nestedMembers(Buffer.from('{"a":{}}'), 'object').inner).to.equal(undefined);
  });

  it('are refused in a malformed text', () => {
    for (const text of ['{"object":{"a":1}', '{"object":{"a":1', '{"object":{]}}']) {
      expect(() => nestedMembers(Buffer.from(text), 'object'), text).to.throw(SyntaxError);
    }
  });
});
