// Tests of the parser of JSON from untrusted peers.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { parseBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { jsonText } from '../../../support/json-text.ts';

const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

describe('parseBoundedJSON', () => {
  it('parses as JSON.parse does', () => {
    const value = fc.jsonValue({ stringUnit: 'binary' });
    fc.assert(
      fc.property(jsonText(value), (text) => {
        expect(parseBoundedJSON(Buffer.from(text))).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  it('rejects JSON that is nested too deeply, complete or not', () => {
    expect(parseBoundedJSON(nested(100))).to.be.an('array');
    for (const json of [nested(101), Buffer.from('['.repeat(5_000_000)), Buffer.from('{"a":'.repeat(101))]) {
      expect(() => parseBoundedJSON(json)).to.throw(SyntaxError, 'nested too deeply');
    }
    expect(parseBoundedJSON(nested(5_000), { maxDepth: 5_000 })).to.be.an('array');
  });

  it('rejects JSON with more values than its limit', () => {
    const items = (count: number): Buffer =>
      Buffer.from(JSON.stringify(Array.from({ length: count }, () => 1)));
    expect(parseBoundedJSON(items(91), { maxCost: 100 })).to.have.length(91);
    expect(() => parseBoundedJSON(items(92), { maxCost: 100 })).to.throw(SyntaxError, 'too many values');
    const empty = Buffer.from(`[${'{},'.repeat(30_000)}{}]`);
    expect(() => parseBoundedJSON(empty)).to.throw(SyntaxError, 'too many values');
    const members = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, 1]));
    expect(() => parseBoundedJSON(Buffer.from(JSON.stringify(members)))).to.throw(SyntaxError);
  });

  it('counts no characters in strings', () => {
    const text = `${'[{:,'.repeat(100_000)}\\"\u{1F600}`;
    const json = Buffer.from(JSON.stringify({ text }));
    expect(parseBoundedJSON(json, { maxCost: 20 })).to.deep.equal({ text });
  });

  it('rejects a truncated string', () => {
    for (const json of ['"a', '"a\\', '{"a']) {
      expect(() => parseBoundedJSON(Buffer.from(json))).to.throw(SyntaxError);
    }
  });
});
