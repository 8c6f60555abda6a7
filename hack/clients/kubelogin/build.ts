// Builds kubelogin, the kubectl plugin for OpenID Connect. Tests use kubelogin as a client.
import { join } from 'node:path';
import type { BuildOptions } from '../../artifacts/artifact.ts';
import { provideGo } from '../../artifacts/go-build.ts';

/** Returns the path of kubelogin in the version of go.mod; builds it if the cache lacks it, in about a minute on 2 cores. */
export async function buildKubelogin(options: BuildOptions): Promise<string> {
  const module = { title: 'kubelogin', name: 'kubelogin', module: import.meta.dirname };
  return join(
    await provideGo({ ...module, packages: ['github.com/int128/kubelogin'] }, options),
    'kubelogin',
  );
}
