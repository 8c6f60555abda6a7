// The bytes that the simulated kubelet of the bench sends through exec. The receiver computes the same bytes, to compare
// their hash.
import { createHash } from 'node:crypto';

export const EXEC_BYTES = 1_000_000_000;
const BLOCK_BYTES = 1_000_000;
/** Coprime to the size of a TLS record, so that lost, repeated and swapped bytes change the hash. */
const DISTINCT = 61;

/** Returns the blocks in order. A `for` loop that ends early continues with the next block. */
export function execBlocks(): Iterable<Buffer> {
  const distinct = Array.from({ length: DISTINCT }, (_, index) => blockOf(index));
  let sent = 0;
  return {
    [Symbol.iterator]: () => ({
      next: () => {
        const value = distinct[sent % DISTINCT];
        if (!value || sent === EXEC_BYTES / BLOCK_BYTES) return { done: true, value: undefined };
        sent++;
        return { done: false, value };
      },
    }),
  };
}

function blockOf(index: number): Buffer {
  return createHash('shake256', { outputLength: BLOCK_BYTES }).update(String(index)).digest();
}

export function execHash(): string {
  const hash = createHash('sha256');
  for (const block of execBlocks()) hash.update(block);
  return hash.digest('hex');
}
