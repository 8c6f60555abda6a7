// Generates the Kustomize component for Prometheus Operator and Grafana, and the table of alerts. The Prometheus rules and
// the dashboard are files of the component that are edited by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { array, record, text } from '../../apis/reading/unknown-value.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import { component } from './kustomization.ts';
import type { ManifestFile } from './manifest-file.ts';
import { table } from './markdown-table.ts';
import { type Names, SERVER } from './names.ts';
import { LABELS, SECURE_PORT } from './workload.ts';

export const MONITORING = join(import.meta.dirname, '../../manifests/components/monitoring');
export const RULES = join(MONITORING, 'rules.yaml');

/** The ConfigMap with the dashboard. The sidecar of the Grafana chart selects its last label. */
export const dashboard = {
  configMap: `${SERVER}-dashboard`,
  file: 'dashboard.json',
  labels: { ...LABELS, grafana_dashboard: '1' },
} as const;

interface Alert {
  readonly name: string;
  readonly severity: string;
  readonly summary: string;
  readonly description: string;
  /** Path of a document and its heading, such as `docs/limits.md#fair-shares`. */
  readonly runbook: string;
}

/** The content of the rules file, which is also the spec of a PrometheusRule. */
function rules(): Readonly<Record<string, unknown>> {
  return record(parse(readFileSync(RULES, 'utf8')));
}

export function alerts(): Alert[] {
  return array(rules()['groups'])
    .flatMap((group) => array(record(group)['rules']).map(record))
    .filter((rule) => rule['alert'] !== undefined)
    .map(({ alert, labels, annotations }) => {
      const { summary, description, runbook } = record(annotations);
      return {
        name: text(alert),
        severity: text(record(labels)['severity']),
        summary: text(summary),
        description: text(description),
        runbook: text(runbook),
      };
    });
}

/** The table of a document in docs/. */
export function alertsTable(): string {
  return table(
    ['alert', 'severity', 'meaning'],
    alerts().map(({ name, severity, summary, runbook }) => [
      `[${name}](${runbook.replace('docs/', '')})`,
      severity,
      summary,
    ]),
  );
}

export function monitoringFiles(names: Names): ManifestFile[] {
  return [
    {
      path: 'components/monitoring/kustomization.yaml',
      about: 'Scrapes the server with Prometheus Operator, and adds alerts and a Grafana dashboard.',
      documents: [
        component({
          resources: ['prometheus-rule.yaml', 'service-monitor.yaml'],
          configMapGenerator: [
            {
              name: dashboard.configMap,
              namespace: names.namespace,
              files: [dashboard.file],
              options: { labels: dashboard.labels, disableNameSuffixHash: true },
            },
          ],
        }),
      ],
    },
    {
      path: 'components/monitoring/prometheus-rule.yaml',
      about: 'The rules of rules.yaml, for Prometheus Operator.',
      documents: [prometheusRule(names)],
    },
    {
      path: 'components/monitoring/service-monitor.yaml',
      about:
        'Scrapes each pod. Prometheus needs the role for /metrics, and the CA of the serving certificate.',
      documents: [serviceMonitor(names)],
    },
  ];
}

/** The objects of Prometheus Operator. */
export function monitoringObjects(names: Names): KubernetesObject[] {
  return [prometheusRule(names), serviceMonitor(names)];
}

function prometheusRule(names: Names): KubernetesObject {
  return { ...operated(names, 'PrometheusRule'), spec: rules() };
}

function serviceMonitor(names: Names): KubernetesObject {
  return {
    ...operated(names, 'ServiceMonitor'),
    spec: {
      selector: { matchLabels: LABELS },
      endpoints: [
        {
          port: SECURE_PORT.name,
          scheme: 'https',
          path: '/metrics',
          bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
          tlsConfig: {
            serverName: `${SERVER}.${names.namespace}.svc`,
            ca: { secret: { name: `${SERVER}-tls`, key: 'ca.crt' } },
          },
        },
      ],
    },
  };
}

function operated({ namespace }: Names, kind: string): KubernetesObject {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind,
    metadata: { name: SERVER, namespace, labels: LABELS },
  };
}
