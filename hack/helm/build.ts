// Builds helm, which installs the chart in tests, and crane, which serves a registry for charts.
import { join } from 'node:path';
import type { BuildOptions } from '../artifacts/artifact.ts';
import { provideGo } from '../artifacts/go-build.ts';
import { provideModuleFiles } from '../artifacts/module-files.ts';

/** Program names with their packages. */
const PACKAGES = {
  helm: 'helm.sh/helm/v4/cmd/helm',
  crane: 'github.com/google/go-containerregistry/cmd/crane',
} as const;

/** Returns the path of the program in the version of go.mod; builds it if the cache lacks it, helm in a few minutes. */
export async function buildHelmProgram(name: keyof typeof PACKAGES, options: BuildOptions): Promise<string> {
  const module = { title: name, name, module: import.meta.dirname, packages: [PACKAGES[name]] };
  return join(await provideGo(module, options), name);
}

/** Returns folders with the CustomResourceDefinitions of the objects that only the chart creates. */
export function provideChartCRDs(options: BuildOptions): Promise<string[]> {
  const gateway = ['httproutes', 'tlsroutes', 'backendtlspolicies'];
  return Promise.all([
    provideModuleFiles(
      {
        title: 'CustomResourceDefinitions of the Gateway API',
        name: 'gateway-api-crds',
        module: 'sigs.k8s.io/gateway-api@v1.6.3',
        files: gateway.map((plural) => `config/crd/standard/gateway.networking.k8s.io_${plural}.yaml`),
      },
      options,
    ),
    provideModuleFiles(
      {
        title: 'CustomResourceDefinition of cert-manager',
        name: 'cert-manager-crds',
        module: 'github.com/cert-manager/cert-manager@v1.21.2',
        files: ['deploy/crds/cert-manager.io_certificates.yaml'],
      },
      options,
    ),
  ]);
}
