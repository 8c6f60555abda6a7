// Starts the controllers as a child process of the control plane: the program with those that tests need (controllers.go),
// or the complete kube-controller-manager.
import { Daemon, type DaemonError, type DaemonSpec } from '../system/daemon.ts';
import type { Client } from './client.ts';
import type { PkiFiles } from './pki.ts';

interface ControllerManagerOptions {
  readonly binary: string;
  /** The binary is kube-controller-manager, and this is its port. */
  readonly completeAt: number | undefined;
  readonly files: PkiFiles;
  readonly kubeconfig: string;
  /** A client with administrator credentials, to see the effects of the controllers. */
  readonly client: Client;
  readonly place: Pick<DaemonSpec, 'logFile' | 'pidFile'>;
  readonly failed: (error: DaemonError) => void;
}

export class ControllerManager extends Daemon {
  constructor(options: ControllerManagerOptions) {
    super(
      {
        name: 'controllers',
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
  const flags = [
    `--kubeconfig=${options.kubeconfig}`,
    `--service-account-private-key-file=${options.files.serviceAccountKey}`,
    `--root-ca-file=${options.files.clusterCa}`,
  ];
  if (options.completeAt === undefined) return flags;
  return [
    ...flags,
    '--bind-address=127.0.0.1',
    `--secure-port=${options.completeAt}`,
    `--tls-cert-file=${options.files.apiserver.cert}`,
    `--tls-private-key-file=${options.files.apiserver.key}`,
    `--authentication-kubeconfig=${options.kubeconfig}`,
    `--authorization-kubeconfig=${options.kubeconfig}`,
    '--leader-elect=false',
    '--use-service-account-credentials',
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
