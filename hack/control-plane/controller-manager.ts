// Starts kube-controller-manager as a child process of the control plane. By default only the controllers that tests
// need are enabled.
import { Daemon, type DaemonError, type DaemonSpec } from '../system/daemon.ts';
import type { Client } from './client.ts';
import type { PkiFiles } from './pki.ts';

/**
 * The controllers that tests need: aggregated ClusterRoles (`view`, `edit`, `admin`), ServiceAccounts for pods, deletion
 * of namespaces. No controller monitors nodes, because tests set their status.
 */
const CONTROLLERS = [
  'clusterrole-aggregation-controller',
  'deployment-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'replicaset-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
];

export interface ControllerManagerOptions {
  readonly binary: string;
  readonly port: number;
  readonly files: PkiFiles;
  readonly kubeconfig: string;
  /** Enables every controller, for a cluster with a real node. */
  readonly all: boolean;
  /** A client with administrator credentials, to see the effects of the controllers. */
  readonly client: Client;
  readonly place: Pick<DaemonSpec, 'logFile' | 'pidFile'>;
  readonly failed: (error: DaemonError) => void;
}

export class ControllerManager extends Daemon {
  constructor(options: ControllerManagerOptions) {
    super(
      {
        name: 'kube-controller-manager',
        command: options.binary,
        args: flagsOf(options),
        ...options.place,
        ready: (signal) => hasWorked(options.client, signal),
        stopTimeoutMs: 3_000,
      },
      options.failed,
    );
  }
}

function flagsOf(options: ControllerManagerOptions): string[] {
  return [
    `--controllers=${options.all ? '*' : CONTROLLERS.join(',')}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${options.port}`,
    `--tls-cert-file=${options.files.apiserver.cert}`,
    `--tls-private-key-file=${options.files.apiserver.key}`,
    `--kubeconfig=${options.kubeconfig}`,
    `--authentication-kubeconfig=${options.kubeconfig}`,
    `--authorization-kubeconfig=${options.kubeconfig}`,
    '--leader-elect=false',
    '--use-service-account-credentials',
    `--service-account-private-key-file=${options.files.serviceAccountKey}`,
    `--root-ca-file=${options.files.clusterCa}`,
    // The defaults protect busy clusters; here they would delay tests.
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ];
}

/** Whether the controllers have created a ServiceAccount and filled an aggregated role. /healthz is not sufficient. */
async function hasWorked(client: Client, signal: AbortSignal): Promise<boolean> {
  const account = await client.send('/api/v1/namespaces/default/serviceaccounts/default', { signal });
  if (account.status !== 200) return false;
  const view: unknown = await client.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/view', signal);
  return (
    typeof view === 'object' &&
    view !== null &&
    'rules' in view &&
    Array.isArray(view.rules) &&
    view.rules.length > 0
  );
}
