// Tests of bytes that are kept for long.
import { expect } from 'chai';
import { ownBytes } from '../../../../server/memory/own-bytes.ts';

describe('ownBytes', () => {
  it('copies slices of larger buffers, such as those of the pool of Node.js', () => {
    const large = Buffer.alloc(100_000, 'a');
    const pooled = [Buffer.from('text'), Buffer.concat([Buffer.from('te'), Buffer.from('xt')])];
    for (const bytes of [...pooled, large.subarray(5, 9)]) {
      expect(bytes.buffer.byteLength).to.be.above(60_000);
      const own = ownBytes(bytes);
      expect(own.equals(bytes)).to.equal(true);
      expect(own.buffer.byteLength).to.equal(4);
    }
    expect(ownBytes(large)).to.equal(large);
  });
});
