// Builds Prometheus and promtool, which checks the rules, and downloads the CustomResourceDefinitions of Prometheus Operator. All
// are for tests.
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuildOptions, provide } from '../artifacts/artifact.ts';
import { compile } from '../artifacts/compiler.ts';
import { provideGo } from '../artifacts/go-build.ts';

/** The Go module also contains the CustomResourceDefinitions. The checksum database of Go verifies the download. */
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.88.0';
const CRDS = ['monitoring.coreos.com_prometheusrules.yaml', 'monitoring.coreos.com_servicemonitors.yaml'];

/**
 * Returns the path of promtool in the version of go.mod, without service discovery; builds it if the cache lacks it, in about a
 * minute after a build of the control plane, whose modules have the same versions.
 */
export function buildPromtool(options: BuildOptions): Promise<string> {
  return build('promtool', 'remove_all_sd', options);
}

/** Returns the path of Prometheus in the version of go.mod, which discovers only pods and has no web pages. Debian's lacks this. */
export function buildPrometheus(options: BuildOptions): Promise<string> {
  return build('prometheus', 'remove_all_sd,enable_kubernetes_sd', options);
}

async function build(name: string, tags: string, options: BuildOptions): Promise<string> {
  const packages = [`github.com/prometheus/prometheus/cmd/${name}`];
  const module = { title: name, name, module: import.meta.dirname, tags, packages };
  return join(await provideGo(module, options), name);
}

/** Returns a folder with the CustomResourceDefinitions of PrometheusRule and ServiceMonitor. */
export async function provideOperatorCRDs(options: BuildOptions): Promise<string> {
  const title = 'CustomResourceDefinitions of Prometheus Operator';
  const make = async (staging: string): Promise<void> => {
    let folder = '';
    await compile(
      {
        command: 'go',
        args: ['mod', 'download', '-json', OPERATOR],
        cwd: staging,
        failure: `downloading the ${title} failed`,
        line: (line) => {
          folder = /^\s*"Dir": "(.+)",?$/.exec(line)?.[1] ?? folder;
          return false;
        },
      },
      { ...options, env: { ...options.env, GOFLAGS: '', GOWORK: 'off' } },
    );
    const source = join(folder, 'example/prometheus-operator-crd');
    for (const file of CRDS) await copyFile(join(source, file), join(staging, file));
  };
  return provide({ title, name: `prometheus-operator-crds-${OPERATOR.split('@')[1]}`, make }, options);
}
