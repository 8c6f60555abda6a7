// Builds helm, which installs the chart in tests.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Returns the path of helm in the version of go.mod; builds it if the cache lacks it, in a few minutes. */
export async function buildHelm(options: BuildOptions): Promise<string> {
  const module = { title: 'helm', name: 'helm', module: import.meta.dirname };
  return join(await provideGo({ ...module, packages: ['helm.sh/helm/v4/cmd/helm'] }, options), 'helm');
}
