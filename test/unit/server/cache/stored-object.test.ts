// Tests of cached objects, and of the compressed buffers that hold the JSON.
import { constants, inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { PackedFrames } from '../../../../server/cache/stored-object.ts';

const text = (letter: string, length = 1000): Buffer => Buffer.from(letter.repeat(length));

describe('PackedFrames', () => {
  it('store frames compressed, as raw deflate that can be concatenated', () => {
    const frames = new PackedFrames();
    const bytes = text('a');
    const frame = frames.frame(bytes);
    expect(frame.packed).to.equal(true);
    expect(frame.size).to.be.below(100);
    expect(frame.open().equals(bytes)).to.equal(true);
    const both = Buffer.concat([frame.deflated, frames.frame(text('b')).deflated]);
    const inflated = inflateRawSync(both, { finishFlush: constants.Z_SYNC_FLUSH });
    expect(inflated.equals(Buffer.concat([bytes, text('b')]))).to.equal(true);
  });

  it('keep no larger buffer in memory than the compressed bytes', () => {
    const { deflated } = new PackedFrames().frame(text('a'));
    expect(deflated.buffer.byteLength).to.equal(deflated.length);
  });

  it('decompress a frame once while it is in use', () => {
    const frame = new PackedFrames().frame(text('a'));
    expect(frame.open()).to.equal(frame.open());
  });

  it('evict the least recently opened buffers beyond the limit', () => {
    const frames = new PackedFrames(2_500);
    const [a, b, c] = [frames.frame(text('a')), frames.frame(text('b')), frames.frame(text('c'))];
    const [openA, openB] = [a.open(), b.open()];
    expect(a.open()).to.equal(openA);
    const openC = c.open();
    expect([a.open() === openA, c.open() === openC]).to.deep.equal([true, true]);
    expect(b.open()).not.to.equal(openB);
    expect(b.open().equals(openB)).to.equal(true);
  });

  it('return a frame that is larger than the limit', () => {
    const frame = new PackedFrames(10).frame(text('a'));
    expect(frame.open().equals(text('a'))).to.equal(true);
  });
});
