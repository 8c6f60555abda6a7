// Manifests of the kubectl commands in kubectl-commands.ts. `$NS` is the namespace of the session.
import { SIMULATED } from '../../../hack/simulation/simulated-cluster.ts';

/** The files by name. */
export const MANIFESTS: Readonly<Record<string, string>> = {
  'settings.json': configMap('settings', { level: 'debug' }),
  'settings-2.json': configMap('settings', { level: 'info', mode: 'fast' }),
  'owned.json': configMap('owned', { level: 'debug' }),
  'owned-2.json': configMap('owned', { level: 'info' }),
  'kustomization.yaml':
    'configMapGenerator:\n- name: generated\n  literals: [a=b]\nresources: [owned.json]\n',
  'unknown-field.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'unknown-field' },
    datum: {},
  }),
  'web.json': deployment('web'),
  'node.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: '$NS',
      labels: { scratch: 'yes' },
      annotations: { [SIMULATED.key]: SIMULATED.value },
    },
  }),
  'pod-of-node.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'single' },
    spec: { nodeName: '$NS', containers: [{ name: 'single', image: 'example.org/single' }] },
  }),
};

function configMap(name: string, data: object): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
}

function deployment(name: string): string {
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        // No scheduler runs.
        spec: { nodeName: 'node-00001', containers: [{ name, image: 'example.org/web:1' }] },
      },
    },
  });
}
