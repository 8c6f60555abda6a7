// Tests of cached objects, and of the compressed buffers that hold the JSON.
import { expect } from 'chai';
import { PackedFrames } from '../../../../server/cache/stored-object.ts';

const text = (letter: string, length = 1000): Buffer => Buffer.from(letter.repeat(length));

describe('PackedFrames', () => {
  it('keep no larger buffer in memory than the compressed bytes', () => {
    const { deflated } = new PackedFrames().frame(text('a'));
    expect(deflated.buffer.byteLength).to.equal(deflated.length);
  });

  it('keep no larger buffers in memory than the bytes of the opened frames', () => {
    const frames = new PackedFrames();
    for (const length of [1, 500, 30_000, 100_000]) {
      const bytes = frames.frame(text('a', length)).open();
      expect(bytes.length).to.equal(length);
      expect(bytes.buffer.byteLength - length).to.be.at.most(64);
    }
    expect(frames.openBytes).to.be.above(130_501);
  });

  it('evict the least recently opened buffers beyond the limit', () => {
    const frames = new PackedFrames(3_500);
    const [a, b, c] = [frames.frame(text('a')), frames.frame(text('b')), frames.frame(text('c'))];
    const [openA, openB] = [a.open(), b.open()];
    expect(a.open()).to.equal(openA);
    const openC = c.open();
    expect([a.open() === openA, c.open() === openC]).to.deep.equal([true, true]);
    expect(b.open()).not.to.equal(openB);
    expect(b.open().equals(openB)).to.equal(true);
  });
});
