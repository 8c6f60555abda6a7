// Builds the Dex server. The bench compares the token endpoints of Dex and ks-apiserver.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Returns the path of the Dex server of the bench; builds it if the cache lacks it, in about a minute on 2 cores. */
export async function buildDex(options: BuildOptions): Promise<string> {
  const module = { title: 'Dex', name: 'dex', module: import.meta.dirname };
  return join(await provideGo({ ...module, packages: ['./dex'] }, options), 'dex');
}
