// Builds kubelogin, the kubectl plugin for OpenID Connect.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Returns the path of kubelogin in the version of go.mod; builds it if the cache lacks it, in about a minute. */
export async function buildKubelogin(options: BuildOptions): Promise<string> {
  const name = 'kubelogin';
  const module = {
    title: name,
    name,
    module: import.meta.dirname,
    packages: ['github.com/int128/kubelogin'],
  };
  return join(await provideGo(module, options), name);
}
