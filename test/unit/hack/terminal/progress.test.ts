// Tests of the progress lines on standard output.
import { expect } from 'chai';
import { printProgress } from '../../../../hack/terminal/progress.ts';

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
});
