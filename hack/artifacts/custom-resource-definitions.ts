// Provides the CustomResourceDefinitions of objects that the manifests and the chart create for other projects, for tests.
import type { BuildOptions } from './artifact.ts';
import { provideModuleFiles } from './module-files.ts';

const DEFINITIONS = {
  'Gateway API': {
    name: 'gateway-api-crds',
    module: 'sigs.k8s.io/gateway-api@v1.6.3',
    files: ['httproutes', 'tlsroutes', 'backendtlspolicies'].map(
      (plural) => `config/crd/standard/gateway.networking.k8s.io_${plural}.yaml`,
    ),
  },
  'cert-manager': {
    name: 'cert-manager-crds',
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    files: ['deploy/crds/cert-manager.io_certificates.yaml'],
  },
  'Prometheus Operator': {
    name: 'prometheus-operator-crds',
    module: 'github.com/prometheus-operator/prometheus-operator@v0.88.0',
    files: ['prometheusrules', 'servicemonitors'].map(
      (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
    ),
  },
} as const;

type DefinedBy = keyof typeof DEFINITIONS;
export const DEFINED_BY = Object.keys(DEFINITIONS) as readonly DefinedBy[];

/** Returns the folder of the files. */
export function provideDefinitions(project: DefinedBy, options: BuildOptions): Promise<string> {
  const title = `CustomResourceDefinitions of ${project}`;
  return provideModuleFiles({ title, ...DEFINITIONS[project] }, options);
}
