// Tests of the memory of bytes that arrive in tiny chunks.
import { expect } from 'chai';
import { ByteChunks } from '../../../../apis/reading/byte-chunks.ts';
import { LineSplitter } from '../../../../apis/reading/line-splitter.ts';
import { ListSplitter } from '../../../../apis/reading/list-splitter.ts';
import { rowsOf } from '../../../../server/logging/backends/victorialogs/rows.ts';
import { heapInUse } from '../../../support/oauth/heap-in-use.ts';

const COUNT = 1 << 20;
const PER_CHUNK = 20;

/** The memory of `add` for many chunks of one byte, in bytes of each chunk. */
function memoryOf(add: (chunk: Buffer) => void): number {
  const before = heapInUse();
  for (let i = 0; i < COUNT; i++) add(Buffer.from('1'));
  return (heapInUse() - before) / COUNT;
}

describe('ByteChunks', () => {
  it('returns the bytes in their order, of small and large chunks', () => {
    const chunks = new ByteChunks();
    const all: Buffer[] = [];
    for (let i = 0; i < 2_000; i++) {
      const chunk = Buffer.alloc(i % 700 === 0 ? 5_000 : 3, i);
      all.push(chunk);
      chunks.add(chunk);
    }
    expect(chunks.length).to.equal(Buffer.concat(all).length);
    expect(Buffer.concat(chunks.take()).equals(Buffer.concat(all))).to.equal(true);
    expect(chunks.take()).to.deep.equal([]);
  });

  it('bounds the memory of lines, items and other parts of responses in chunks of one byte', async () => {
    const lines = new LineSplitter(2 * COUNT);
    expect(memoryOf((chunk) => [...lines.push(chunk)])).to.be.below(PER_CHUNK);
    expect([...lines.push(Buffer.from('\n'))][0]).to.have.length(COUNT);

    const items = new ListSplitter(2 * COUNT);
    expect([...items.push(Buffer.from('{"items":[["'))]).to.deep.equal([]);
    expect(memoryOf((chunk) => [...items.push(chunk)])).to.be.below(PER_CHUNK);
    expect([...items.push(Buffer.from('"]'))][0]).to.have.length(COUNT + 4);
    expect([...items.push(Buffer.from('],"a":"'))]).to.deep.equal([]);
    expect(memoryOf((chunk) => [...items.push(chunk)])).to.be.below(PER_CHUNK);
  });

  it('bounds the memory of a row of a log store in chunks of one byte', async () => {
    let memory = 0;
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('{"_msg":"');
      const before = heapInUse();
      for (let i = 0; i < COUNT; i++) yield Buffer.from('1');
      memory = (heapInUse() - before) / COUNT;
      yield Buffer.from('"}\n');
    };
    const rows = await Array.fromAsync(rowsOf(body(), { spent: false, next: () => Promise.resolve() }));
    expect(rows.flat()).to.have.length(1);
    expect(memory).to.be.below(PER_CHUNK);
  });
});
