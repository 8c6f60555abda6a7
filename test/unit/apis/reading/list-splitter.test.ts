// Tests of ListSplitter, which splits a list response into its items.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { LineTooLongError } from '../../../../apis/reading/line-splitter.ts';
import { ListSplitter } from '../../../../apis/reading/list-splitter.ts';
import { jsonText } from '../../../support/json-text.ts';

function split(
  text: string,
  size: number,
  limit = 1 << 20,
  path?: readonly string[],
): { items: unknown[]; envelope: unknown; skipped: number } {
  const splitter = new ListSplitter(limit, path);
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  for (let i = 0; i < bytes.length; i += size) {
    for (const item of splitter.push(bytes.subarray(i, i + size)))
      items.push(JSON.parse(item.toString('utf8')));
  }
  return { items, envelope: JSON.parse(splitter.envelope().toString('utf8')), skipped: splitter.skipped };
}

describe('ListSplitter', () => {
  it('splits any list, in any formatting and chunking', () => {
    const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    const list = fc.record({ before: object, items: fc.array(object), after: fc.jsonValue() });
    fc.assert(
      fc.property(jsonText(list), fc.integer({ min: 1, max: 40 }), (text, size) => {
        const { items, ...rest } = JSON.parse(text) as { items: unknown[] };
        expect(split(text, size)).to.deep.equal({ items, envelope: { ...rest, items: [] }, skipped: 0 });
      }),
      { numRuns: 80 },
    );
  });

  it('ignores nested members named items', () => {
    const text = '{"x":{"items":[{"no":1}]},"y":"items","z":[{"no":2}],"items":[{"items":[{}]}]}';
    expect(split(text, 5).items).to.deep.equal([{ items: [{}] }]);
  });

  it('splits a list in another object, and ignores members of the same name elsewhere', () => {
    const text =
      '{"a":{"hits":[{"no":1}]},"hits":{"b":{"hits":[{"no":2}]},"n":1,"hits":[{"hits":[{}]},{"c":2}],"d":3},"hits2":[{"no":3}]}';
    for (const size of [1, 7, 1000]) {
      expect(split(text, size, 1 << 20, ['hits', 'hits'])).to.deep.equal({
        items: [{ hits: [{}] }, { c: 2 }],
        envelope: {
          a: { hits: [{ no: 1 }] },
          hits: { b: { hits: [{ no: 2 }] }, n: 1, hits: [], d: 3 },
          hits2: [{ no: 3 }],
        },
        skipped: 0,
      });
    }
  });

  it('skips an item over the limit, without storing it', () => {
    const item = `{"a":"${'x'.repeat(42)}"}`;
    const long = item.replace('x', 'xx');
    for (const size of [7, 1000]) {
      expect(split(`{"items":[${item},${item}]}`, size, 50)).to.deep.include({ skipped: 0 });
      const { items, skipped } = split(`{"items":[${item},${long},${item}]}`, size, 50);
      expect(items).to.have.length(2);
      expect(skipped).to.equal(1);
    }
  });

  it('rejects an envelope over the limit before its end', () => {
    expect(() => split(`{"metadata":"${'x'.repeat(50)}`, 7, 50)).to.throw(LineTooLongError);
  });
});
