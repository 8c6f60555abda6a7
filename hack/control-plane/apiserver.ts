// Starts kube-apiserver as a child process of the control plane.
import { Daemon, type DaemonError, type DaemonSpec } from '../system/daemon.ts';
import type { Client } from './client.ts';
import type { Etcd } from './etcd.ts';
import { FRONT_PROXY_NAME, type PkiFiles, SERVICE_RANGE } from './pki.ts';

interface ApiserverOptions {
  readonly binary: string;
  readonly port: number;
  readonly files: PkiFiles;
  readonly etcd: Pick<Etcd, 'endpoint' | 'clientFiles'>;
  /** A client with administrator credentials, for the readiness check. */
  readonly client: Client;
  /** Replace our flags of the same name. `--authorization-config` replaces `--authorization-mode`. */
  readonly extraFlags: readonly string[];
  readonly place: Pick<DaemonSpec, 'logFile' | 'pidFile'>;
  readonly failed: (error: DaemonError) => void;
}

export class Apiserver extends Daemon {
  readonly #flags: readonly string[];
  #extraFlags: readonly string[];

  constructor(options: ApiserverOptions) {
    const flags = flagsOf(options);
    super(
      {
        name: 'kube-apiserver',
        command: options.binary,
        args: argsOf(flags, options.extraFlags),
        ...options.place,
        ready: async (signal) => (await options.client.send('/readyz', { signal })).status === 200,
        // kube-apiserver waits up to a minute for watches to end.
        stopTimeoutMs: 2_000,
      },
      options.failed,
    );
    this.#flags = flags;
    this.#extraFlags = options.extraFlags;
  }

  /** `extraFlags` replace the previous ones, such as `--authentication-config=FILE`. */
  override async restart(
    options: { signal?: AbortSignal; extraFlags?: readonly string[] } = {},
  ): Promise<void> {
    this.#extraFlags = options.extraFlags ?? this.#extraFlags;
    await super.restart({ ...options, args: argsOf(this.#flags, this.#extraFlags) });
  }
}

/** kube-apiserver rejects the authorization mode together with a configuration file. */
function argsOf(flags: readonly string[], extraFlags: readonly string[]): string[] {
  const replaced = new Set(extraFlags.map(nameOf));
  if (replaced.has('--authorization-config')) replaced.add('--authorization-mode');
  return [...flags.filter((flag) => !replaced.has(nameOf(flag))), ...extraFlags];
}

function nameOf(flag: string): string | undefined {
  return flag.split('=', 1)[0];
}

function flagsOf(options: ApiserverOptions): string[] {
  const { files, etcd } = options;
  return [
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${options.port}`,
    // Endpoints must not be loopback addresses, and no pod uses the Service here.
    '--endpoint-reconciler-type=none',
    `--tls-cert-file=${files.apiserver.cert}`,
    `--tls-private-key-file=${files.apiserver.key}`,
    `--client-ca-file=${files.clusterCa}`,

    `--etcd-servers=${etcd.endpoint}`,
    `--etcd-cafile=${etcd.clientFiles.ca}`,
    `--etcd-certfile=${etcd.clientFiles.cert}`,
    `--etcd-keyfile=${etcd.clientFiles.key}`,

    // The plugin taints each new node. The controller that removes the taint does not run here.
    '--disable-admission-plugins=TaintNodesByCondition',
    '--authorization-mode=RBAC',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--service-account-key-file=${files.serviceAccountPublicKey}`,

    `--requestheader-client-ca-file=${files.frontProxyCa}`,
    `--requestheader-allowed-names=${FRONT_PROXY_NAME}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-uid-headers=X-Remote-Uid',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${files.frontProxyClient.cert}`,
    `--proxy-client-key-file=${files.frontProxyClient.key}`,

    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-certificate-authority=${files.clusterCa}`,
    `--kubelet-client-certificate=${files.kubeletClient.cert}`,
    `--kubelet-client-key=${files.kubeletClient.key}`,
  ];
}
