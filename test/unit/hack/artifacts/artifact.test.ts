// Tests of the build cache for programs and other artifacts.
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type BuildOptions, provide } from '../../../../hack/artifacts/artifact.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

function options(root: string): BuildOptions {
  return { env: { XDG_CACHE_HOME: root }, signal: new AbortController().signal, progress: () => undefined };
}

describe('an artifact', () => {
  it('is not built if the cache is not writable, and the error says what to do', async () => {
    await using scratch = await scratchFolder();
    const file = join(scratch.path, 'no-folder');
    await writeFile(file, '');
    let made = 0;
    const artifact = { title: 'thing', name: 'thing-1', make: async () => void made++ };
    const error = await rejection(provide(artifact, options(file)));
    expect(error.message).to.equal(
      `thing: ${join(file, 'ks-apiserver')} is not writable: set XDG_CACHE_HOME to a writable folder`,
    );
    expect(made).to.equal(0);
  });

  it('is not stored on a full disk, and the error says what to do', async () => {
    await using scratch = await scratchFolder();
    const artifact = { title: 'thing', name: 'thing-1', make: () => writeFile('/dev/full', 'x') };
    const error = await rejection(provide(artifact, options(scratch.path)));
    const cache = join(scratch.path, 'ks-apiserver');
    expect(error.message).to.equal(
      `thing: the disk of ${cache} is full: free disk space there, or set XDG_CACHE_HOME to another folder`,
    );
    expect(await readdir(cache)).to.deep.equal([]);
  });

  it('is built once for concurrent callers, and found later', async () => {
    await using scratch = await scratchFolder();
    let made = 0;
    const artifact = {
      title: 'thing',
      name: 'thing-1',
      make: async (staging: string) => {
        made++;
        await writeFile(join(staging, 'file'), 'content');
      },
    };
    const ask = (): Promise<string> => provide(artifact, options(scratch.path));
    const folders = [...(await Promise.all([ask(), ask()])), await ask()];
    expect(new Set(folders)).to.deep.equal(new Set([join(scratch.path, 'ks-apiserver', 'thing-1')]));
    expect(made).to.equal(1);
    expect(await readFile(join(folders[0] ?? '', 'file'), 'utf8')).to.equal('content');
  });

  it('removes files of killed builders, but not of running ones', async () => {
    await using scratch = await scratchFolder();
    const cache = join(scratch.path, 'ks-apiserver');
    for (const left of ['thing-1.building-1', 'killed-2.building-1', 'unlocked-3.building-1']) {
      await mkdir(join(cache, left, 'half'), { recursive: true });
    }
    const dead = { pid: process.pid, startedAt: 'in another life' };
    const lock = { token: 'of another process', host: hostname(), process: dead };
    await writeFile(join(cache, 'killed-2.lock'), JSON.stringify(lock));
    const elsewhere = { ...lock, host: 'another-machine' };
    await mkdir(join(cache, 'busy-4.building-1'));
    await writeFile(join(cache, 'busy-4.lock'), JSON.stringify(elsewhere));

    const make = async (): Promise<void> => undefined;
    await provide({ title: 'thing', name: 'thing-1', make }, options(scratch.path));
    expect((await readdir(cache)).sort()).to.deep.equal(['busy-4.building-1', 'busy-4.lock', 'thing-1']);

    const silence = new Date(Date.now() - 60_000);
    await utimes(join(cache, 'busy-4.lock'), silence, silence);
    await provide({ title: 'thing', name: 'thing-2', make }, options(scratch.path));
    expect((await readdir(cache)).sort()).to.deep.equal(['thing-1', 'thing-2']);
  });
});
