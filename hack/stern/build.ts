// Builds stern, which follows the logs of several pods.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Returns the path of stern in the version of go.mod; builds it if the cache lacks it, in seconds after a build of the control plane. */
export async function buildStern(options: BuildOptions): Promise<string> {
  const packages = ['github.com/stern/stern'];
  const module = { title: 'stern', name: 'stern', module: import.meta.dirname, packages };
  return join(await provideGo(module, options), 'stern');
}
