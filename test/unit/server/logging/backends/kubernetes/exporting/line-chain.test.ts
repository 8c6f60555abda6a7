import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { BlockWriter } from '../../../../../../../server/logging/backends/kubernetes/exporting/line-block.ts';
import { LineChain } from '../../../../../../../server/logging/backends/kubernetes/exporting/line-chain.ts';

const LENGTH = 1 << 19;

function chainOf(rank: number): LineChain {
  const chain = new LineChain('asc');
  for (const second of ['01', '02']) {
    const writer = new BlockWriter(rank, LENGTH + 100);
    writer.add(`2026-01-01T00:00:${second}.000000000Z`, 0, 'x'.repeat(LENGTH));
    const block = writer.seal();
    if (block) chain.append(block);
  }
  return chain;
}

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Blocks are unpacked outside of the heap. */
function held(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('a chain of blocks', () => {
  it('holds no block that was read, however little the others take', () => {
    const chains = Array.from({ length: 40 }, (_, rank) => chainOf(rank));
    collect();
    const before = held();
    for (const chain of chains) expect(chain.take()?.text).to.have.length(LENGTH);
    collect();
    expect(held() - before).to.be.below(8 * LENGTH);
    expect(chains.every((chain) => chain.next?.time.includes(':02.'))).to.equal(true);
  });
});
