import { join } from 'node:path';
import type { BuildOptions } from '../../artifacts/artifact.ts';
import { provideGo } from '../../artifacts/go-build.ts';

/** Path of kubelogin, as the module of this folder pins it; built when the cache has none, in about a minute on 2 cores. */
export async function buildKubelogin(options: BuildOptions): Promise<string> {
  const module = { title: 'kubelogin', name: 'kubelogin', module: import.meta.dirname };
  return join(
    await provideGo({ ...module, packages: ['github.com/int128/kubelogin'] }, options),
    'kubelogin',
  );
}
