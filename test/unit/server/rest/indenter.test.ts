// Tests of the indentation of JSON bytes.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { Indenter } from '../../../../server/rest/indenter.ts';

describe('Indenter', () => {
  it('accepts input split anywhere, even within a character or an escape', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(20), (value, step) => {
        const json = Buffer.from(JSON.stringify(value));
        const indenter = new Indenter();
        const parts: Buffer[] = [];
        for (let at = 0; at < json.length; at += step + 1)
          parts.push(indenter.write(json.subarray(at, at + step + 1)));
        expect(Buffer.concat(parts).toString()).to.equal(JSON.stringify(value, null, 2));
      }),
      { numRuns: 500 },
    );
  });
});
