// Tests of the deduplication of log records in live tails.
import { expect } from 'chai';
import { OverlapWindow } from '../../../../../server/logging/store/overlap-window.ts';

const NOW = 1_000_000;

type Line = readonly [key: string, milliseconds: number];

function newWindow(limit = 100): OverlapWindow {
  return new OverlapWindow({ limit, wallClock: () => NOW });
}

/** The keys that one read hands out. */
function read(window: OverlapWindow, from: number, lines: readonly Line[]): string[] {
  const start = window.startRead(from);
  return lines
    .filter(([, time]) => time >= start)
    .filter(([key, time]) => window.isNew(key, time))
    .map(([key]) => key);
}

describe('OverlapWindow', () => {
  it('drops the digests of records before the start of a read, and never reports such records as new', () => {
    const window = newWindow();
    read(window, 0, Object.entries({ a: 1, b: 9 }));
    window.startRead(5);
    expect(window.size).to.equal(1);
    expect(window.isNew('late', 4)).to.equal(false);
    expect(window.isNew('b', 9)).to.equal(false);
  });

  it('stays within the limit and starts the next read after the evicted records', () => {
    const window = newWindow(10);
    const lines = Array.from({ length: 1_000 }, (_, index): Line => [`line ${index}`, index]);
    expect(read(window, 0, lines).length).to.equal(1_000);
    expect(window.size).to.be.at.most(10);
    expect(read(window, 0, lines)).to.deep.equal([]);
    expect(window.startRead(0)).to.be.above(980);
  });

  it('still reads the present if all records have a time in the future', () => {
    const window = newWindow(10);
    const lines = Array.from({ length: 50 }, (_, index): Line => [`future ${index}`, NOW + 1]);
    read(window, 0, lines);
    expect(window.size).to.be.at.most(10);
    expect(window.startRead(3)).to.equal(3);
  });
});
