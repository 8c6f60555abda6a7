// Generates the component of Headlamp, and the values of its own Helm chart: the console, unmodified, as an OAuth client of
// the server and behind its gateway.
import { CLIENT_SECRETS } from './installed-secrets.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { component } from './kustomization.ts';
import type { ManifestFile } from './manifest-file.ts';
import { type Names, SERVER } from './names.ts';
import { CONTAINER_SECURITY, LIVENESS, POD_SECURITY, READINESS } from './workload.ts';

const HEADLAMP = 'headlamp';
export const HEADLAMP_IMAGE = 'ghcr.io/headlamp-k8s/headlamp:v0.45.0';
const LABELS = { 'app.kubernetes.io/name': HEADLAMP } as const;
const PORT = { name: 'http', number: 4466 } as const;
const FRONTEND = '/headlamp/frontend';
const WRITABLE = '/tmp';
const TRUSTED = '/etc/headlamp-ca';

/** Flags that do not depend on the installation, except on the name of the platform. */
export function headlampFlags(names: Names): string[] {
  // The name of the cluster in the URLs of the console.
  return ['-in-cluster', `-in-cluster-context-name=${names.platform}`, ...signInFlags(names)];
}

function signInFlags({ platform }: Names): string[] {
  return [
    `-oidc-client-id=${HEADLAMP}`,
    '-oidc-use-pkce',
    // The access token is the credential of the user at the gateway. It names the platform as its audience.
    '-oidc-use-access-token',
    `-oidc-validator-client-id=${platform}`,
    '-oidc-scopes=groups',
    '-me-username-path=sub',
  ];
}

export function headlampFiles(names: Names): ManifestFile[] {
  return [
    {
      path: 'components/headlamp/kustomization.yaml',
      about:
        'Headlamp, signed in at this server and behind its gateway. Patch your addresses into its variables: docs/relying-parties.md.',
      documents: [component({ resources: ['headlamp.yaml'] })],
    },
    {
      path: 'components/headlamp/headlamp.yaml',
      about: 'Headlamp has no permission: kube-apiserver authorizes the signed-in user.',
      documents: [serviceAccount(names), deployment(names), service(names)],
    },
  ];
}

/** Values of Headlamp's own chart, for `helm install` without the component. */
export function headlampChartValues(names: Names): object {
  return {
    automountServiceAccountToken: false,
    clusterRoleBinding: { create: false },
    config: {
      inClusterContextName: names.platform,
      oidc: { secret: { create: false } },
      extraArgs: signInFlags(names),
    },
    env: [...variables('platform.example.com'), TRUST],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: [CA, noServiceAccount()],
    volumeMounts: [CA_MOUNT, NO_SERVICE_ACCOUNT_MOUNT],
  };
}

/** Environment variables of Headlamp and of client-go, which finds kube-apiserver, here the gateway, with the last two. */
function variables(host: string): object[] {
  return [
    { name: 'HEADLAMP_CONFIG_OIDC_IDP_ISSUER_URL', value: `https://${host}/oauth` },
    { name: 'HEADLAMP_CONFIG_OIDC_CALLBACK_URL', value: 'https://headlamp.example.com/oidc-callback' },
    {
      name: 'HEADLAMP_CONFIG_OIDC_CLIENT_SECRET',
      valueFrom: { secretKeyRef: { name: CLIENT_SECRETS, key: HEADLAMP } },
    },
    { name: 'KUBERNETES_SERVICE_HOST', value: host },
    { name: 'KUBERNETES_SERVICE_PORT', value: '443' },
  ];
}

/** CAs in addition to those of the image. */
const TRUST = { name: 'SSL_CERT_DIR', value: TRUSTED } as const;
const CA = { name: 'ca', configMap: { name: `${HEADLAMP}-ca`, optional: true } } as const;
const CA_MOUNT = { name: 'ca', mountPath: TRUSTED, readOnly: true } as const;

/** client-go requires a file with a token. Headlamp sends only tokens of users, so this one is no credential. */
function noServiceAccount(): object {
  const token = { path: 'token', fieldRef: { fieldPath: 'metadata.name' } };
  return { name: 'service-account', downwardAPI: { items: [token] } };
}

const NO_SERVICE_ACCOUNT_MOUNT = {
  name: 'service-account',
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  readOnly: true,
} as const;

const inNamespace = ({ namespace }: Names): KubernetesObject['metadata'] => ({
  name: HEADLAMP,
  namespace,
  labels: LABELS,
});

function serviceAccount(names: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: inNamespace(names),
    automountServiceAccountToken: false,
  };
}

function service(names: Names): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: inNamespace(names),
    spec: {
      selector: LABELS,
      ports: [{ name: 'http', port: 80, targetPort: PORT.name, protocol: 'TCP', appProtocol: 'http' }],
    },
  };
}

function deployment(names: Names): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: inNamespace(names),
    spec: {
      // Refresh tokens are in the memory of the pod, so a second replica would sign users out.
      replicas: 1,
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: HEADLAMP,
          automountServiceAccountToken: false,
          securityContext: POD_SECURITY,
          initContainers: [frontendCopy()],
          containers: [container(names)],
          volumes: [
            { name: 'frontend', emptyDir: {} },
            { name: 'writable', emptyDir: {} },
            CA,
            noServiceAccount(),
          ],
        },
      },
    },
  };
}

/** Headlamp writes its base URL into the files of its pages at each start. */
function frontendCopy(): object {
  return {
    name: 'frontend',
    image: HEADLAMP_IMAGE,
    command: ['cp', '-r', `${FRONTEND}/.`, '/frontend'],
    securityContext: CONTAINER_SECURITY,
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
    volumeMounts: [{ name: 'frontend', mountPath: '/frontend' }],
  };
}

function container(names: Names): object {
  const probe = { httpGet: { path: '/', port: PORT.name } };
  return {
    name: HEADLAMP,
    image: HEADLAMP_IMAGE,
    args: headlampFlags(names),
    env: [...variables(`${SERVER}.${names.namespace}.svc`), { name: 'HOME', value: WRITABLE }, TRUST],
    ports: [{ name: PORT.name, containerPort: PORT.number, protocol: 'TCP' }],
    livenessProbe: { ...probe, ...LIVENESS },
    readinessProbe: { ...probe, ...READINESS },
    securityContext: CONTAINER_SECURITY,
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    volumeMounts: [
      { name: 'frontend', mountPath: FRONTEND },
      { name: 'writable', mountPath: WRITABLE },
      CA_MOUNT,
      NO_SERVICE_ACCOUNT_MOUNT,
    ],
  };
}
