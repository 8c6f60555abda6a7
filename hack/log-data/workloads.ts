// Generates the workloads and pod names of the log data set. lines.ts generates the log lines.
import type { LogStyle } from './lines.ts';
import type { Random } from './random.ts';

type Kind = 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob';

export interface Workload {
  readonly kind: Kind;
  readonly name: string;
  readonly pods: number;
  /** Name and style of each container. */
  readonly containers: readonly (readonly [name: string, style: LogStyle])[];
}

/** Some names are prefixes of others; one is so long that Kubernetes truncates the names of its pods. */
export const WORKLOADS: readonly Workload[] = [
  { kind: 'Deployment', name: 'web', pods: 4, containers: [['web', 'nginx']] },
  {
    kind: 'Deployment',
    name: 'web-api',
    pods: 3,
    containers: [
      ['api', 'json'],
      ['istio-proxy', 'nginx'],
    ],
  },
  {
    kind: 'Deployment',
    name: 'api',
    pods: 2,
    containers: [
      ['api', 'java'],
      ['istio-proxy', 'nginx'],
      ['log-agent', 'logfmt'],
    ],
  },
  {
    kind: 'StatefulSet',
    name: 'postgres',
    pods: 3,
    containers: [
      ['postgres', 'sql'],
      ['metrics', 'logfmt'],
    ],
  },
  { kind: 'StatefulSet', name: 'kafka', pods: 2, containers: [['kafka', 'java']] },
  { kind: 'DaemonSet', name: 'node-exporter', pods: 3, containers: [['node-exporter', 'logfmt']] },
  { kind: 'DaemonSet', name: 'fluent-bit', pods: 3, containers: [['fluent-bit', 'plain']] },
  { kind: 'Job', name: 'migrate', pods: 2, containers: [['migrate', 'sql']] },
  { kind: 'CronJob', name: 'backup', pods: 3, containers: [['backup', 'plain']] },
  { kind: 'CronJob', name: 'report-1', pods: 2, containers: [['report', 'json']] },
  { kind: 'Deployment', name: 'scheduler', pods: 1, containers: [['scheduler', 'klog']] },
  {
    kind: 'Deployment',
    name: 'controller-manager',
    pods: 2,
    containers: [
      ['manager', 'klog'],
      ['kube-rbac-proxy', 'klog'],
    ],
  },
  {
    kind: 'Deployment',
    name: 'worker',
    pods: 3,
    containers: [
      ['worker', 'go'],
      ['sidecar', 'plain'],
    ],
  },
  {
    kind: 'Deployment',
    name: 'recommendation-service-for-returning-customers-of-the-web-shop',
    pods: 2,
    containers: [['recommendation', 'json']],
  },
];

/** The alphabet of random suffixes in Kubernetes (k8s.io/apimachinery, util/rand). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
/** Maximum length of a generated pod name before its five random characters. */
const MAX_BASE = 58;

/** The names of the pods, as the controller generates them. */
export function podNames({ kind, name, pods }: Workload, minutes: number, random: Random): string[] {
  const generated = (base: string) => `${base.slice(0, MAX_BASE)}${random.text(ALPHABET, 5)}`;
  const replicaSet = `${name}-${random.text(ALPHABET, 10)}`;
  return Array.from({ length: pods }, (_, index) => {
    if (kind === 'Deployment') return generated(`${replicaSet}-`);
    if (kind === 'StatefulSet') return `${name}-${index}`;
    if (kind === 'CronJob') return generated(`${name}-${minutes + index * 60}-`);
    return generated(`${name}-`);
  });
}
