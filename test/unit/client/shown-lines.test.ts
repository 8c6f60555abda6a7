// Tests of the bounded lines that a view of logs shows.
import { expect } from 'chai';
import {
  LINE_BLOCK,
  type LogPage,
  type LogRecord,
  newestLines,
  withNewLines,
  withOlderLines,
} from '../../../client/index.ts';

const MAX = 10_000;
const MEBIBYTE = 1024 * 1024;
const NONE = { lines: [], isCut: false };

function linesOf(count: number, size = 1, first = 0): LogRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(first + index),
    log: 'x'.repeat(size),
    time: '',
    namespace: '',
    pod: '',
    container: '',
  }));
}

/** A page with these lines, of which the oldest is the first one. */
function pageOf(lines: readonly LogRecord[], cursor?: string): LogPage {
  const records = lines.toReversed();
  return { total: lines.length, totalRelation: 'eq', took: 1, records, ...(cursor && { cursor }) };
}

describe('the lines that a view shows', () => {
  it('begin with older pages, and end with new lines', () => {
    const lines = linesOf(8);
    const newest = withOlderLines(NONE, pageOf(lines.slice(3, 6), 'older'));
    expect(newest).to.deep.equal({ lines: lines.slice(3, 6), cursor: 'older', isCut: false });
    // A tail repeats lines.
    const tailed = withNewLines(newest, lines.slice(4));
    expect(tailed).to.deep.equal({ lines: lines.slice(3), cursor: 'older', isCut: false });
    const all = withOlderLines(tailed, pageOf(lines.slice(0, 3)));
    expect(all).to.deep.equal({ lines, cursor: undefined, isCut: false });
  });

  it('are bounded in their number, and change in whole blocks', () => {
    const lines = linesOf(MAX + 3 * LINE_BLOCK);
    expect(newestLines(lines)).to.deep.equal(lines.slice(3 * LINE_BLOCK));
    expect(newestLines(lines.slice(1))).to.deep.equal(lines.slice(1 + 3 * LINE_BLOCK));
    expect(newestLines(lines.slice(3 * LINE_BLOCK))).to.have.length(MAX);
    expect(newestLines([])).to.deep.equal([]);
  });

  it('are bounded in their size', () => {
    const lines = linesOf(200, MEBIBYTE);
    expect(newestLines(lines).length).to.be.within(1, 64);
    expect(newestLines(lines).at(-1)).to.equal(lines.at(-1));
  });

  it('have no older pages at the maximum of either', () => {
    for (const [count, size] of [
      [MAX, 1],
      [65, MEBIBYTE],
    ] as const) {
      const { cursor, isCut } = withOlderLines(NONE, pageOf(linesOf(count, size), 'older'));
      expect({ cursor, isCut }).to.deep.equal({ cursor: undefined, isCut: true });
      expect(withOlderLines(NONE, pageOf(linesOf(count, size))).isCut).to.equal(false);
      expect(withOlderLines(NONE, pageOf(linesOf(count - 1, size), 'older')).cursor).to.equal('older');
    }
  });

  it('have no older pages after lines were dropped, which would leave a gap', () => {
    const shown = withOlderLines(NONE, pageOf(linesOf(MAX - 1), 'older'));
    const { lines, cursor, isCut } = withNewLines(shown, linesOf(2, 1, MAX));
    expect(lines).to.have.length(MAX + 1 - LINE_BLOCK);
    expect({ cursor, isCut }).to.deep.equal({ cursor: undefined, isCut: true });
  });
});
