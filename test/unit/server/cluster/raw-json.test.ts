import { expect } from 'chai';
import * as fc from 'fast-check';
import { memberNamed, objectMembers } from '../../../../server/cluster/raw-json.ts';
import { jsonText } from '../../../support/json-text.ts';

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
