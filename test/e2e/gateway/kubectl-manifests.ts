// Manifests of the kubectl commands in kubectl-commands.ts. `$NS` is the namespace of the session.
import * as x509 from '@peculiar/x509';
import { SIMULATED } from '../../../hack/simulation/simulated-cluster.ts';

/** Returns the files by name. */
export async function manifests(): Promise<Record<string, string>> {
  return {
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
    'invalid.json': deployment('invalid', 'other'),
    'stale.json': JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'colours', resourceVersion: '1' },
    }),
    'reconciled.json': JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'reader', namespace: '$NS' },
      rules: [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }],
    }),
    'web.json': deployment('web', 'web'),
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
    'request.json': JSON.stringify({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: '$NS' },
      spec: {
        request: Buffer.from(await certificateRequest()).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    }),
  };
}

function configMap(name: string, data: object): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
}

function deployment(name: string, app: string): string {
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app } },
        // No scheduler runs.
        spec: { nodeName: 'node-00001', containers: [{ name, image: 'example.org/web:1' }] },
      },
    },
  });
}

async function certificateRequest(): Promise<string> {
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=scratch',
    keys,
    signingAlgorithm,
  });
  return request.toString('pem');
}
