// Tests of the buffered output of the log.
import { execFile, execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LineOutput } from '../../../../server/observability/line-output.ts';
import { until } from '../../../support/until.ts';

/** Creates a named pipe and opens both ends with O_NONBLOCK. */
function pipe(dir: string): { reader: number; writer: number } {
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

describe('LineOutput', () => {
  let dir: string;
  let file: string;
  let fd: number;
  const lost: number[] = [];

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'line-output-'));
    file = join(dir, 'log');
    fd = openSync(file, 'a');
    lost.length = 0;
  });

  afterEach(() => {
    closeSync(fd);
    rmSync(dir, { recursive: true });
  });

  const outputTo = (descriptor: number, capacity?: number): LineOutput =>
    new LineOutput({
      fd: descriptor,
      recovered: (lines) => lost.push(lines),
      ...(capacity === undefined ? {} : { capacity }),
    });
  const written = (): string => readFileSync(file, 'utf8');

  it('writes all lines in order, short buffers after a delay', async () => {
    const output = outputTo(fd);
    const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i} ü\n`);
    for (const line of lines.slice(0, -1)) output.write(line);
    await until(() => written() === lines.slice(0, -1).join(''));
    output.write(lines.at(-1) ?? '');
    expect(written()).not.to.include(lines.at(-1));
    await until(() => written() === lines.join(''));
    expect(lost).to.deep.equal([]);
  });

  it('drops lines beyond its capacity, and reports their number', async () => {
    const output = outputTo(fd, 100);
    for (let i = 0; i < 10; i++) output.write(`${'x'.repeat(29)}\n`);
    await until(() => lost.length === 1);
    expect(lost).to.deep.equal([7]);
    expect(written()).to.have.length(90);
  });

  it('retries for a slow reader, in order', async () => {
    const { reader, writer } = pipe(dir);
    const output = outputTo(writer);
    const lines = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(5_000)}\n`);
    for (const line of lines) output.write(line);
    // The lines exceed the buffer of the pipe, so further writes fail until the reader reads.
    let read = '';
    const block = Buffer.alloc(1 << 16);
    const take = (): void => {
      try {
        read += block.toString('utf8', 0, readSync(reader, block));
      } catch {
        // The pipe is empty.
      }
    };
    await until(() => {
      take();
      return read.length === lines.join('').length;
    });
    expect(read).to.equal(lines.join(''));
    output.write('last\n');
    output.flushSync();
    take();
    expect(read.endsWith('\nlast\n')).to.equal(true);
    closeSync(writer);
    closeSync(reader);
  });

  it('does not block a program that logs to a full disk', (done) => {
    const logger = new URL('../../../../server/observability/logger.ts', import.meta.url).href;
    const program = `
      const { createLogger } = await import(${JSON.stringify(logger)});
      const log = createLogger({ level: 'info', format: 'json' });
      log.fatal('one');
      for (let i = 0; i < 1000; i++) log.info('a line that is long enough to be written before the next one comes');
      setTimeout(() => { log.fatal('two'); process.stderr.write('at work\\n'); }, 300);`;
    execFile(
      '/bin/sh',
      ['-c', 'exec "$0" --input-type=module -e "$1" > /dev/full', process.execPath, program],
      { timeout: 170_000 },
      (error, _, stderr) => {
        expect({ error, stderr }).to.deep.equal({ error: null, stderr: 'at work\n' });
        done();
      },
    );
  });
});
