// Builds the OpenTelemetry Collector, which receives the spans of the tests.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** Returns the path of the collector in the version of go.mod; builds it if the cache lacks it. */
export async function buildCollector(options: BuildOptions): Promise<string> {
  const title = 'OpenTelemetry Collector';
  const module = { title, name: 'collector', module: import.meta.dirname, packages: ['.'] };
  return join(await provideGo(module, options), 'collector');
}
