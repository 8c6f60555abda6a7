// Tests of the restart of a program after each saved file.
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runOnSave } from '../../../../hack/start/run-on-save.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { until } from '../../../support/until.ts';

describe('a program that is started on save', () => {
  /** Runs that last until aborted, except those in `ends`. */
  async function watching(
    work: (facts: { dir: string; runs: AbortSignal[]; most: () => number }) => Promise<void>,
    ends: (run: number) => boolean = () => false,
  ): Promise<Error> {
    await using scratch = await scratchFolder();
    const dir = join(scratch.path, 'server');
    await mkdir(join(dir, 'deep/down'), { recursive: true });
    await writeFile(join(dir, 'deep/down/file.ts'), '');
    const runs: AbortSignal[] = [];
    let [running, most] = [0, 0];
    const stop = new AbortController();
    const start = async (signal: AbortSignal): Promise<void> => {
      most = Math.max(most, ++running);
      const run = runs.push(signal);
      if (!ends(run) && !signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }
      running--;
    };
    const over = rejection(runOnSave([dir], start, stop.signal));
    const failed = over.then((error) => Promise.reject(error));
    const worked = until(() => runs.length === 1).then(() => work({ dir, runs, most: () => most }));
    await Promise.race([worked, failed]);
    stop.abort(new Error('enough'));
    const error = await over;
    expect(running).to.equal(0);
    return error;
  }

  it('restarts when a file is saved, also by renaming, and never runs twice', async () => {
    const error = await watching(async ({ dir, runs, most }) => {
      await appendFile(join(dir, 'deep/down/file.ts'), 'changed');
      await until(() => runs.length >= 2);
      expect(runs.map(({ aborted }) => aborted)).to.deep.equal(runs.map((_, n) => n < runs.length - 1));
      // On a slow machine one save may cause two events.
      const before = runs.length;
      await writeFile(join(dir, '.file.ts.swp'), 'changed');
      await rename(join(dir, '.file.ts.swp'), join(dir, 'deep/down/file.ts'));
      await until(() => runs.length > before);
      expect(most()).to.equal(1);
    });
    expect(error.message).to.equal('enough');
  });

  it('waits for the next save after it has exited', async () => {
    await watching(
      async ({ dir, runs }) => {
        await appendFile(join(dir, 'deep/down/file.ts'), 'changed');
        await until(() => runs.length >= 2);
      },
      (run) => run === 1,
    );
  });

  it('rejects if it cannot be started', async () => {
    await using scratch = await scratchFolder();
    const failing = runOnSave(
      [scratch.path],
      () => Promise.reject(new Error('no such program')),
      AbortSignal.timeout(60_000),
    );
    expect((await rejection(failing)).message).to.equal('no such program');
  });
});
