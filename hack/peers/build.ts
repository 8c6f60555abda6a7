// Builds Dex's server, which the bench measures beside ours; hack/artifacts owns the cache folder in which it is kept.
import { join } from 'node:path';
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { buildGo, GO_FLAGS } from '../artifacts/go-build.ts';

const TITLE = 'Dex';
const BUILD_FLAGS = [...GO_FLAGS, '-ldflags=-s -w'];

/** The program's path. It is built when these sources are not in the cache yet; about a minute on 2 cores. */
export async function buildDex(options: BuildOptions): Promise<string> {
  const files = ['go.mod', 'go.sum', '*/*.go'];
  const hash = await hashOfInputs({ folder: import.meta.dirname, files, settings: [BUILD_FLAGS] });
  const folder = await provide({ title: TITLE, name: `dex-${hash}`, make }, options);
  return join(folder, 'dex');
}

async function make(staging: string, options: BuildOptions): Promise<void> {
  await buildGo(
    {
      title: TITLE,
      module: import.meta.dirname,
      packages: ['./dex'],
      output: `${staging}/`,
      flags: BUILD_FLAGS,
    },
    options,
  );
}
