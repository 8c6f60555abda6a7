// Builds the Go programs of this folder (client-go's informers, the load generator); hack/artifacts owns the cache
// folder in which they are kept. What they do is described in their own sources.
import { join } from 'node:path';
import { type BuildOptions, hashOfInputs, provide } from '../artifacts/artifact.ts';
import { buildGo, GO_FLAGS } from '../artifacts/go-build.ts';

const TITLE = 'Go clients';
const BUILD_FLAGS = [...GO_FLAGS, '-ldflags=-s -w'];
const PACKAGES = ['./load', './informer'];

/** Paths of the built programs. */
export interface Clients {
  readonly load: string;
  readonly informer: string;
}

/** The programs, built when those of these sources are not in the cache yet; about a minute on 2 cores. */
export async function buildClients(options: BuildOptions): Promise<Clients> {
  const files = ['go.mod', 'go.sum', '*/*.go'];
  const hash = await hashOfInputs({ folder: import.meta.dirname, files, settings: [BUILD_FLAGS] });
  const folder = await provide({ title: TITLE, name: `clients-${hash}`, make }, options);
  return { load: join(folder, 'load'), informer: join(folder, 'informer') };
}

async function make(staging: string, options: BuildOptions): Promise<void> {
  await buildGo(
    {
      title: TITLE,
      module: import.meta.dirname,
      packages: PACKAGES,
      output: `${staging}/`,
      flags: BUILD_FLAGS,
    },
    options,
  );
}
