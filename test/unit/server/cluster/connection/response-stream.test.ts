// Tests of the reader of streamed responses of kube-apiserver.
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { streamedBody } from '../../../../../server/cluster/connection/response-stream.ts';
import { StalledError } from '../../../../../server/upstream/upstream-response.ts';
import { WorkPerTurn, workFor } from '../../../../support/work-per-turn.ts';

const CHUNKS = 60;
/** Larger than the read-ahead of a stream, so that chunks arrive one by one. */
const CHUNK_BYTES = 256 << 10;
/** Minimum time of the consumer per chunk. */
const WORK_MS = 2;

/** A body whose next chunk is always available. */
function ready(): Readable {
  let left = CHUNKS;
  return new Readable({
    read() {
      this.push(left-- > 0 ? Buffer.alloc(CHUNK_BYTES) : null);
    },
  });
}

function silent(): Readable {
  return new Readable({ read: () => undefined });
}

describe('streamedBody', () => {
  it('yields to the event loop while much data arrives at once', async () => {
    const work = new WorkPerTurn();
    let length = 0;
    for await (const chunk of streamedBody(ready(), 60_000)) {
      workFor(WORK_MS);
      work.note();
      length += chunk.length;
    }
    expect(length).to.equal(CHUNKS * CHUNK_BYTES);
    expect(work.most).to.be.within(1, 8);
  });

  it('does not time out while the consumer works', async () => {
    const idleMs = 20;
    let length = 0;
    for await (const chunk of streamedBody(ready(), idleMs)) {
      length += chunk.length;
      // As long as a stalled response takes to time out.
      if (length === chunk.length)
        await Array.fromAsync(streamedBody(silent(), idleMs)).catch((error: unknown) => error);
    }
    expect(length).to.equal(CHUNKS * CHUNK_BYTES);
    const failure = await Array.fromAsync(streamedBody(silent(), idleMs)).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(StalledError);
  });
});
