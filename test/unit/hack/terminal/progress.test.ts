// Tests of the progress lines on standard output.
import { expect } from 'chai';
import { formatElapsed, printProgress } from '../../../../hack/terminal/progress.ts';

function recorder(
  isTTY: boolean,
  columns = 40,
): {
  written: string;
  isTTY: boolean;
  columns: number;
  write(text: string): void;
} {
  return {
    written: '',
    isTTY,
    columns,
    write(text) {
      this.written += text;
    },
  };
}

describe('progress', () => {
  it('updates transient lines in place on a terminal, and never wraps them', () => {
    const stream = recorder(true);
    const progress = printProgress(stream);
    progress('building (1s)', true);
    progress(`building ${'x'.repeat(100)}`, true);
    progress('built');
    const clear = '\r\u001b[K';
    expect(stream.written).to.equal(`building (1s)${clear}building ${'x'.repeat(30)}${clear}built\n`);
  });

  it('assumes 80 columns for a terminal of unknown size', () => {
    const stream = recorder(true, 0);
    printProgress(stream)('x'.repeat(100), true);
    expect(stream.written).to.equal('x'.repeat(79));
  });

  it('without a terminal, writes a transient line every 15 seconds and other lines at once', () => {
    const stream = recorder(false);
    let time = 0;
    const progress = printProgress(stream, () => time);
    for (; time <= 40_000; time += 1000) {
      progress(`building (${time / 1000}s)`, true);
    }
    progress('built');
    expect(stream.written).to.equal('building (15s)\nbuilding (30s)\nbuilt\n');
  });

  it('formats minutes and seconds', () => {
    expect([999, 59_999, 60_000, 245_000].map(formatElapsed)).to.deep.equal(['0s', '59s', '1m00s', '4m05s']);
  });
});
