// Tests of the memory of response bodies.
import { expect } from 'chai';
import { UpstreamResponse } from '../../../../server/upstream/upstream-response.ts';
import { heapInUse } from '../../../support/oauth/heap-in-use.ts';

describe('UpstreamResponse', () => {
  it('reads a body in tiny chunks without the memory of a buffer for each', async () => {
    const source = { pause: () => undefined, resume: () => undefined };
    const response = new UpstreamResponse(source, 200, '', {}, () => undefined);
    const body = response.bytes({ maxBytes: 1 << 20, tooLong: () => new Error('too long') });
    const before = heapInUse();
    for (let i = 0; i < 1 << 20; i++) response.received(Buffer.from([i % 251]));
    expect(heapInUse() - before).to.be.below(20 << 20);
    response.completed();
    const bytes = await body;
    expect(bytes).to.have.length(1 << 20);
    expect(bytes.findIndex((byte, i) => byte !== i % 251)).to.equal(-1);
  });
});
