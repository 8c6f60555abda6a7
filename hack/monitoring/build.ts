// Builds Prometheus and promtool, which checks the rules, and downloads the CustomResourceDefinitions of Prometheus Operator. All
// are for tests.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';
import { provideModuleFiles } from '../artifacts/module-files.ts';

/** The Go module also contains the CustomResourceDefinitions. */
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
export function provideOperatorCRDs(options: BuildOptions): Promise<string> {
  const title = 'CustomResourceDefinitions of Prometheus Operator';
  const files = CRDS.map((file) => `example/prometheus-operator-crd/${file}`);
  return provideModuleFiles({ title, name: 'prometheus-operator-crds', module: OPERATOR, files }, options);
}
