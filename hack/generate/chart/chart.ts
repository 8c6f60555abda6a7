// Lists the generated files of the Helm chart under manifests/chart. Its objects are those of the kustomize base and of the
// components, with the values of the chart. Written by hand are only templates/_helpers.tpl and templates/NOTES.txt.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CUSTOM_RESOURCES } from '../../../apis/iam/v1beta1/custom-resources.ts';
import { record } from '../../../apis/reading/unknown-value.ts';
import packageManifest from '../../../package.json' with { type: 'json' };
import { KEYS_SECRET } from '../../../server/oauth/keys/key-rotator.ts';
import {
  administrators,
  CONSTRAINED_IMPERSONATION,
  IMPERSONATION,
  impersonationAccess,
  nodeUsageAccess,
  podLogsAccess,
  serverAccess,
  userRoles,
  viewBindingName,
} from '../access.ts';
import { admissionPolicies } from '../admission.ts';
import { customResourceDefinition } from '../custom-resources.ts';
import { document } from '../files.ts';
import type { GeneratedFile } from '../generated-file.ts';
import { installedSecrets } from '../installed-secrets.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import { dashboard, MONITORING, monitoringObjects } from '../monitoring.ts';
import { SERVER } from '../names.ts';
import { apiServices } from '../registration.ts';
import { networkPolicy, podDisruptionBudget, priorityQuota, serviceAccount } from '../workload.ts';
import { connectionTest } from './connection-test.ts';
import {
  backendTLSPolicyTemplate,
  certificateTemplate,
  ingressTemplate,
  routeTemplate,
  serviceTemplate,
} from './exposure-templates.ts';
import { changed, definition, membersOf, TEMPLATE_NAMES, template, value, when } from './template.ts';
import { valuesFile, valuesSchema, valuesTable } from './values-files.ts';
import {
  configMapTemplate,
  configurationTemplate,
  deploymentTemplate,
  HAS_TRUST,
  trustTemplate,
} from './workload-templates.ts';

/** The first version of Kubernetes with all APIs of the manifests. */
const KUBERNETES = '>=1.31.0-0';

const names = TEMPLATE_NAMES;

interface Template {
  readonly file: string;
  readonly about: string;
  readonly objects: readonly KubernetesObject[];
  /** Helm creates the objects if this expression is true. */
  readonly condition?: string;
}

/** The files of the chart, and the document with its values. */
export function chartFiles(root: string): GeneratedFile[] {
  return [
    document(join(root, 'docs/installation.md'), { values: valuesTable() }),
    ...texts().map(([path, text]) => ({ path: join(root, 'manifests/chart', path), text: () => text })),
  ];
}

/** Paths below manifests/chart, with the texts of the files. */
function texts(): [path: string, text: string][] {
  return [
    ['Chart.yaml', chartMetadata()],
    ['values.yaml', valuesFile()],
    ['values.schema.json', valuesSchema()],
    ['files/dashboard.json', readFileSync(join(MONITORING, dashboard.file), 'utf8')],
    ['templates/_configuration.tpl', definition('ks-apiserver.setByChart', configurationTemplate())],
    ...templates().map(({ file, about, objects, condition }): [string, string] => [
      `templates/${file}`,
      template(about, objects, condition),
    ]),
  ];
}

function chartMetadata(): string {
  return stringify({
    apiVersion: 'v2',
    name: SERVER,
    description:
      'An API server for platforms on Kubernetes: lists, OAuth, users, logs and a gateway behind one address.',
    type: 'application',
    version: packageManifest.version,
    appVersion: packageManifest.version,
    kubeVersion: KUBERNETES,
  });
}

function templates(): Template[] {
  const view = ({ metadata }: KubernetesObject): boolean => metadata.name === viewBindingName(names);
  return [
    {
      file: 'service-account.yaml',
      about: 'The ServiceAccount of the server.',
      objects: [serviceAccount(names)],
    },
    {
      file: 'secrets.yaml',
      about: 'Empty Secrets, which the server fills: it is not allowed to create Secrets.',
      objects: installedSecrets(names).map((secret) =>
        secret.metadata.name === KEYS_SECRET ? kept(secret) : secret,
      ),
    },
    {
      file: 'server-access.yaml',
      about: 'Permissions of the server.',
      objects: serverAccess(names).filter((object) => !view(object)),
    },
    {
      file: 'view.yaml',
      about: 'The permission for lists of any kind.',
      objects: serverAccess(names).filter(view),
      condition: '.Values.view',
    },
    {
      file: 'pod-logs.yaml',
      about: 'Permissions for pod logs, which other log stores do not need.',
      objects: podLogsAccess(names),
      condition: `eq (dig "logging" "store" "kubernetes" .Values.configuration) "kubernetes"`,
    },
    {
      file: 'node-usage.yaml',
      about: 'The permission that resources.nodes.usageAnnotations needs without the role view.',
      objects: nodeUsageAccess(names),
      condition:
        'and (not .Values.view) (dig "resources" "nodes" "usageAnnotations" false .Values.configuration)',
    },
    { file: 'user-roles.yaml', about: 'Roles to bind to users and monitoring.', objects: userRoles(names) },
    ...CUSTOM_RESOURCES.map((resource) => ({
      file: `crd-${resource.plural}.yaml`,
      about: resource.description,
      objects: [kept(customResourceDefinition(names, resource))],
    })),
    {
      file: 'admission.yaml',
      about: 'Changing groups and setting passwords requires permission to impersonate them.',
      objects: admissionPolicies(names).map(kept),
    },
    {
      file: 'administrators.yaml',
      about: 'Grants cluster-admin to the group of the first user.',
      objects: [administrators(names)],
    },
    { file: 'configuration.yaml', about: "The server's configuration.", objects: [configMapTemplate()] },
    {
      file: 'trusted-cas.yaml',
      about: 'CAs that the server trusts.',
      objects: [trustTemplate()],
      condition: HAS_TRUST,
    },
    { file: 'deployment.yaml', about: 'Equal replicas.', objects: [deploymentTemplate()] },
    {
      file: 'pod-disruption-budget.yaml',
      about: 'Limits the eviction during node drains to one replica at a time.',
      objects: [podDisruptionBudget(names)],
    },
    { file: 'service.yaml', about: '443: TLS, all paths; 80: plain HTTP.', objects: [serviceTemplate()] },
    {
      file: 'api-services.yaml',
      about: 'The API groups that kube-apiserver forwards to the server.',
      objects: apiServices(names),
    },
    {
      file: 'ingress.yaml',
      about: 'The public address, at an Ingress controller.',
      objects: [ingressTemplate()],
      condition: '.Values.ingress.enabled',
    },
    {
      file: 'route.yaml',
      about: 'The public address, at a Gateway.',
      objects: [routeTemplate()],
      condition: '.Values.route.enabled',
    },
    {
      file: 'backend-tls-policy.yaml',
      about: 'Lets the Gateway verify the certificate of the server.',
      objects: [backendTLSPolicyTemplate()],
      condition: 'and .Values.route.enabled (eq .Values.route.kind "HTTPRoute")',
    },
    {
      file: 'certificate.yaml',
      about: 'The serving certificate, from cert-manager.',
      objects: [certificateTemplate()],
      condition: '.Values.certificates.issuerRef',
    },
    {
      file: 'network-policy.yaml',
      about: 'Allows TLS from everywhere and plain HTTP from pods.',
      objects: [networkPolicy(names)],
      condition: '.Values.networkPolicy.enabled',
    },
    {
      file: 'priority-quota.yaml',
      about: 'Admits pods of critical priority to the namespace.',
      objects: [priorityQuota(names)],
      condition: '.Values.priorityQuota',
    },
    ...[true, false].map((constrained) => ({
      file: `${constrained ? 'constrained-' : ''}impersonation.yaml`,
      about: 'A ServiceAccount that can only impersonate.',
      objects: impersonationAccess(names, constrained ? CONSTRAINED_IMPERSONATION : IMPERSONATION),
      condition: `and (ne .Values.impersonation.callers "none") ${constrained ? '' : '(not '}.Values.impersonation.constrained${constrained ? '' : ')'}`,
    })),
    {
      file: 'monitoring.yaml',
      about: 'Metrics, alerts and dashboard for Prometheus Operator and Grafana.',
      objects: [...monitoringObjects(names).map(selected), dashboardTemplate()],
      condition: '.Values.monitoring.enabled',
    },
    { file: 'tests/connection.yaml', about: 'The pod of helm test.', objects: [connectionTest()] },
  ];
}

/**
 * Users survive an uninstallation, with the keys that encrypt their second factors, and with the policies without which
 * anyone who can write users could become an administrator.
 */
function kept(object: KubernetesObject): KubernetesObject {
  return changed(object, {
    metadata: (metadata) => ({
      ...record(metadata),
      ...when('.Values.keepUsers', { annotations: { 'helm.sh/resource-policy': 'keep' } }),
    }),
  });
}

/** Adds the labels that the Prometheus of the cluster selects, and the Secret with the CA of the server. */
function selected(object: KubernetesObject): KubernetesObject {
  const labelled = changed(object, {
    'metadata.labels': (labels) => ({ ...record(labels), ...membersOf('.Values.monitoring.labels') }),
  });
  if (object.kind !== 'ServiceMonitor') return labelled;
  return changed(labelled, {
    'spec.endpoints.0.tlsConfig.ca.secret.name': (name) =>
      value(`include "ks-apiserver.tlsSecret" . | default "${String(name)}"`),
  });
}

function dashboardTemplate(): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: dashboard.configMap, namespace: names.namespace, labels: dashboard.labels },
    data: { [dashboard.file]: value(`.Files.Get "files/${dashboard.file}"`) },
  };
}
