import { expect } from 'chai';
import { release } from '../../../../server/memory/released.ts';

describe('memory that is given back', () => {
  it('is all that was read at a time, also when the buffer is a piece of it', () => {
    const read = Buffer.allocUnsafeSlow(Buffer.poolSize);
    release(read.subarray(200, 300));
    expect(read.buffer).to.have.property('detached', true);
  });

  it('may have been given back before', () => {
    const read = Buffer.allocUnsafeSlow(100);
    release(read);
    release(read);
    expect(read.buffer).to.have.property('detached', true);
  });

  it('is never what small buffers share', () => {
    const [mine, neighbour] = [Buffer.from('mine'), Buffer.from('of somebody else')];
    expect(mine.buffer).to.equal(neighbour.buffer);
    release(mine);
    expect(neighbour.toString()).to.equal('of somebody else');
  });
});
