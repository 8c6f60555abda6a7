// Builds kubelogin, as the module of this folder pins it; hack/artifacts owns the cache folder in which it is kept.
import { join } from 'node:path';
import { type BuildOptions, hashOfInputs, provide } from '../../artifacts/artifact.ts';
import { buildGo, GO_FLAGS } from '../../artifacts/go-build.ts';

const TITLE = 'kubelogin';
const PACKAGE = 'github.com/int128/kubelogin';
const BUILD_FLAGS = [...GO_FLAGS, '-ldflags=-s -w'];

/** Path of the program, built when it is not in the cache yet; about a minute on 2 cores. */
export async function buildKubelogin(options: BuildOptions): Promise<string> {
  const folder = import.meta.dirname;
  const hash = await hashOfInputs({ folder, files: ['go.mod', 'go.sum'], settings: [BUILD_FLAGS] });
  const make = (staging: string): Promise<void> =>
    buildGo(
      { title: TITLE, module: folder, packages: [PACKAGE], output: `${staging}/`, flags: BUILD_FLAGS },
      options,
    );
  return join(await provide({ title: TITLE, name: `kubelogin-${hash}`, make }, options), TITLE);
}
