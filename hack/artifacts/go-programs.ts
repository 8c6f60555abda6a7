// Builds programs of other projects, for tests. The go.mod in the folder of each names its version.
import { join } from 'node:path';
import type { BuildOptions } from './artifact.ts';
import { provideGo } from './go-build.ts';

interface Source {
  /** Folder of the module in hack. */
  readonly module: string;
  readonly package: string;
  readonly tags?: string;
}

const PROMETHEUS = 'github.com/prometheus/prometheus/cmd';

const PROGRAMS = {
  /** The OpenTelemetry Collector. */
  collector: { module: 'collector', package: '.' },
  helm: { module: 'helm', package: 'helm.sh/helm/v4/cmd/helm' },
  /** A registry for charts. */
  crane: { module: 'helm', package: 'github.com/google/go-containerregistry/cmd/crane' },
  kubelogin: { module: 'kubelogin', package: 'github.com/int128/kubelogin' },
  stern: { module: 'stern', package: 'github.com/stern/stern' },
  dex: { module: 'identity', package: 'github.com/dexidp/dex/cmd/dex' },
  'oauth2-proxy': { module: 'identity', package: 'github.com/oauth2-proxy/oauth2-proxy/v7' },
  promtool: { module: 'monitoring', package: `${PROMETHEUS}/promtool`, tags: 'remove_all_sd' },
  /** Discovers only pods, which the package of Debian lacks, and has no web pages. */
  prometheus: {
    module: 'monitoring',
    package: `${PROMETHEUS}/prometheus`,
    tags: 'remove_all_sd,enable_kubernetes_sd',
  },
} as const satisfies Record<string, Source>;

export type GoProgram = keyof typeof PROGRAMS;

/** Returns the path of the program; builds it if the cache lacks it, in a few minutes at most. */
export async function provideGoProgram(name: GoProgram, options: BuildOptions): Promise<string> {
  const { module, package: main, ...tags }: Source = PROGRAMS[name];
  const folder = join(import.meta.dirname, '..', module);
  return join(
    await provideGo({ title: name, name, module: folder, packages: [main], ...tags }, options),
    name,
  );
}
