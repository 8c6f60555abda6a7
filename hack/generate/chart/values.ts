// The schema of the chart's values, with defaults and descriptions. values.yaml, values.schema.json and the table in
// docs/installation.md are derived from it.
import type { TProperties } from 'typebox';
import { ISSUER } from '../../../apis/config/v1alpha1/oauth-options.ts';
import {
  choiceOption,
  flagOption,
  namesOption,
  textOption,
} from '../../../apis/config/v1alpha1/option-types.ts';
import { Type } from '../../../apis/reading/json-schema.ts';
import { container } from '../workload.ts';
import { configurationBlock } from './configuration-block.ts';

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const NAME = `^(?:${LABEL}(?:\\.${LABEL})*)?$`;

/** Where a NodePort can be; the range of a cluster is an option of kube-apiserver. */
const NODE_PORTS = { minimum: 0, maximum: 65_535 } as const;

function section(description: string, properties: TProperties) {
  return Type.Object(properties, { additionalProperties: false, description });
}

function nameOption(description: string, initial = '') {
  return textOption(initial, description, { pattern: NAME, expects: 'a DNS name in lower case' });
}

/** Objects that kube-apiserver validates, such as tolerations. */
function objectsOption(description: string) {
  return Type.Array(Type.Unsafe<object>({ type: 'object' }), { default: [], description });
}

function objectOption(description: string, initial: object = {}) {
  return Type.Unsafe<object>({ type: 'object', default: initial, description });
}

function textsOption(description: string) {
  return Type.Unsafe<object>({
    type: 'object',
    additionalProperties: { type: 'string' },
    default: {},
    description,
  });
}

const image = section('The image of the server.', {
  repository: textOption('ks-apiserver', 'Registry and name of the image.', {
    pattern: '^[a-zA-Z0-9][-a-zA-Z0-9._/:]*$',
    expects: 'the name of an image',
  }),
  tag: textOption('', 'Tag of the image. Empty: the version of the chart.', {
    pattern: '^(?:\\w[-.\\w]{0,127})?$',
    expects: 'a tag',
  }),
  digest: textOption('', 'Digest of the image, instead of the tag.', {
    pattern: '^(?:sha256:[0-9a-f]{64})?$',
    expects: 'sha256: and 64 hexadecimal digits',
  }),
  pullPolicy: choiceOption(['IfNotPresent', 'Always', 'Never'], 'IfNotPresent', 'Pull policy of the image.'),
  pullSecrets: namesOption('Names of Secrets with the credentials of the registry.'),
});

const service = section('The Service.', {
  type: choiceOption(['ClusterIP', 'NodePort', 'LoadBalancer'], 'ClusterIP', 'Type of the Service.'),
  nodePort: Type.Integer({
    ...NODE_PORTS,
    default: 0,
    description: 'Port of the nodes for TLS. 0: the cluster chooses one.',
  }),
  annotations: textsOption('Annotations of the Service.'),
});

const ingress = section('The public address, at an Ingress controller.', {
  enabled: flagOption(false, 'Creates an Ingress, whose controller connects to the server with TLS.'),
  host: nameOption('Public DNS name of the server. Required with `enabled`.'),
  className: nameOption('IngressClass. Empty: the default.'),
  tlsSecretName: nameOption('Secret with its certificate. Empty: the default of the controller.'),
  annotations: textsOption(
    'Annotations of the Ingress. ingress-nginx needs `nginx.ingress.kubernetes.io/backend-protocol: HTTPS`.',
  ),
});

const route = section('The public address, at a Gateway.', {
  enabled: flagOption(false, 'Creates a route of the Gateway API.'),
  kind: choiceOption(
    ['TLSRoute', 'HTTPRoute'],
    'TLSRoute',
    '`TLSRoute`: the Gateway passes TLS through, so client certificates work. `HTTPRoute`: it terminates TLS, with a BackendTLSPolicy.',
  ),
  host: nameOption('Public DNS name of the server. Required with `enabled`.'),
  parentRefs: objectsOption('The Gateways: `parentRefs` of the route. Required with `enabled`.'),
  caConfigMap: nameOption('ConfigMap with the CA of the server as `ca.crt`. Required for an HTTPRoute.'),
  annotations: textsOption('Annotations of the route.'),
});

const certificates = section('The serving certificate. By default, the server issues its own.', {
  issuerRef: objectOption(
    '`issuerRef` of a Certificate of cert-manager, such as `{name: platform-ca, kind: ClusterIssuer}`: a private CA, because the Certificate has the DNS name of the Service.',
  ),
  dnsNames: namesOption(
    'DNS names of the Certificate besides those of the Service and of `issuer`, such as `gateway.proxyHost`.',
  ),
  secretName: nameOption(
    'Secret with `tls.crt` and `tls.key`. Empty: `ks-apiserver-tls` with `issuerRef`, else none.',
  ),
  hasCA: flagOption(
    true,
    'The Secret has the CA bundle as `ca.crt`. `false`: the last certificate of `tls.crt` is the CA.',
  ),
});

const impersonation = section('Impersonation of callers by the gateway.', {
  callers: choiceOption(
    ['none', 'certificates', 'all'],
    'none',
    'The option `gateway.impersonation`, with [the objects](gateway.md#impersonation) that it needs.',
  ),
  constrained: flagOption(
    true,
    'kube-apiserver protects `system:masters` and nodes. `false`: before Kubernetes 1.36.',
  ),
});

const monitoring = section('Metrics, alerts and dashboard.', {
  enabled: flagOption(
    false,
    '[ServiceMonitor, PrometheusRule and Grafana dashboard](metrics.md#with-prometheus-operator).',
  ),
  labels: textsOption('Labels by which your Prometheus selects ServiceMonitor and PrometheusRule.'),
});

/** All values. Every member has a default. */
export const ValuesSchema = Type.Object(
  {
    platform: textOption(
      'platform',
      'Name of the platform; part of the API groups: `resources.<platform>.io`.',
      {
        // As namesFor() of the kustomize base.
        pattern: '^[a-z](?:[-a-z0-9]{0,48}[a-z0-9])?$',
        expects: 'at most 50 lower-case letters, digits and dashes, beginning with a letter',
      },
    ),
    issuer: textOption(
      '',
      'The option `oauth.issuer`: the public URL, with `/oauth`. Empty: the host of `ingress` or `route`, else the Service.',
      ISSUER,
    ),
    image,
    replicas: Type.Integer({ minimum: 0, maximum: 1000, default: 2, description: 'Number of pods.' }),
    configuration: configurationBlock(
      '[Options of the server](configuration.md#options). A change restarts the pods.',
    ),
    plainHTTP: flagOption(true, 'Plain HTTP on port 80, for clients inside the cluster.'),
    service,
    ingress,
    route,
    certificates,
    trustedCAs: Type.String({
      default: '',
      description: 'CA certificates, PEM, that the server trusts besides those of Node.',
      pattern: '^(?:\\s*-----BEGIN CERTIFICATE-----[\\s\\S]*)?$',
      // The ConfigMap of the certificates is not secret.
      not: { pattern: 'PRIVATE KEY-----' },
    }),
    networkPolicy: section('Network policies.', {
      enabled: flagOption(false, 'Creates a [NetworkPolicy](network.md#network-policies).'),
    }),
    impersonation,
    monitoring,
    view: flagOption(
      true,
      'Binds the server to the ClusterRole `view`, for [lists](resource-kinds.md) and pod logs.',
    ),
    priorityQuota: flagOption(
      false,
      'Creates a ResourceQuota for pods of critical priority, which some clusters (GKE) require.',
    ),
    keepUsers: flagOption(true, 'Keeps users, sessions and signing keys when the chart is uninstalled.'),
    resources: objectOption('Resources of the container.', container().resources),
    nodeSelector: textsOption('Node selector of the pods.'),
    tolerations: objectsOption('Tolerations of the pods.'),
    affinity: objectOption('Affinity of the pods. Empty: they prefer different nodes.'),
    topologySpreadConstraints: objectsOption('Topology spread constraints of the pods.'),
    priorityClassName: nameOption('Priority class of the pods.', 'system-cluster-critical'),
    podAnnotations: textsOption('Annotations of the pods.'),
    volumes: objectsOption('Further volumes, such as Secrets of a [log store](#another-log-store).'),
    volumeMounts: objectsOption('Mounts of these volumes.'),
  },
  { additionalProperties: false, description: 'Values of the chart ks-apiserver.' },
);
