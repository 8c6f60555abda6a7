import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type BuildOptions, hashOfInputs, provide } from '../../../../hack/artifacts/artifact.ts';
import { rejection, scratchFolder } from '../control-plane/scratch.ts';

function options(root: string): BuildOptions {
  return {
    env: { XDG_CACHE_HOME: root },
    signal: new AbortController().signal,
    progress: () => undefined,
  };
}

describe('the name of what is built', () => {
  it('is another one when a file, the name of a file or a setting is', async () => {
    await using scratch = await scratchFolder();
    const hash = (settings: readonly unknown[] = ['-s']): Promise<string> =>
      hashOfInputs({ folder: scratch.path, files: ['*.go', 'cmd/*/*.go'], settings });
    const hashes = new Set<string>();
    const note = async (changed: Promise<string>): Promise<void> => {
      hashes.add(await changed);
    };

    await writeFile(join(scratch.path, 'main.go'), 'package main');
    await note(hash());
    await writeFile(join(scratch.path, 'main.go'), 'package other');
    await note(hash());
    await writeFile(join(scratch.path, 'second.go'), '');
    await note(hash());
    await mkdir(join(scratch.path, 'cmd/load'), { recursive: true });
    await writeFile(join(scratch.path, 'cmd/load/load.go'), '');
    await note(hash());
    await note(hash(['-w']));
    expect(hashes).to.have.length(5);

    await writeFile(join(scratch.path, 'README.md'), 'not built');
    await note(hash());
    expect(hashes).to.have.length(5);
  });
});

describe('an artifact', () => {
  it('is made once for all who ask at the same time, and found later', async () => {
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

  it('that could not be made leaves nothing, and is made by the next who asks', async () => {
    await using scratch = await scratchFolder();
    let fails = true;
    const artifact = {
      title: 'thing',
      name: 'thing-1',
      make: async (staging: string) => {
        await writeFile(join(staging, 'half'), '');
        if (fails) throw new Error('no space');
      },
    };
    expect((await rejection(provide(artifact, options(scratch.path)))).message).to.equal('no space');
    expect(await readdir(join(scratch.path, 'ks-apiserver'))).to.deep.equal([]);
    fails = false;
    await provide(artifact, options(scratch.path));
    expect(await readdir(join(scratch.path, 'ks-apiserver'))).to.deep.equal(['thing-1']);
  });
});
