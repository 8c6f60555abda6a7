// Starts etcd as a child process of the control plane.
import { Daemon, type DaemonError, type DaemonSpec } from '../system/daemon.ts';
import type { CertificateAuthority, KeyPair } from './certificate-authority.ts';
import { Client } from './client.ts';
import type { PairFiles, PkiFiles } from './pki.ts';

interface EtcdOptions {
  readonly binary: string;
  readonly dataDir: string;
  readonly ports: { client: number; peer: number };
  readonly files: Pick<PkiFiles, 'etcdCa' | 'etcdServer' | 'etcdClient'>;
  /** Client certificate and CA of this process, PEM. */
  readonly trust: { ca: CertificateAuthority['cert']; pair: KeyPair };
  readonly place: Pick<DaemonSpec, 'logFile' | 'pidFile'>;
  readonly failed: (error: DaemonError) => void;
}

/** etcd with one member, over TLS with client certificates. */
export class Etcd extends Daemon {
  readonly endpoint: string;
  /** Client certificate files, and the CA of the server. */
  readonly clientFiles: PairFiles & { ca: string };
  readonly #trust: EtcdOptions['trust'];

  constructor(options: EtcdOptions) {
    const endpoint = `https://127.0.0.1:${options.ports.client}`;
    super(
      {
        name: 'etcd',
        command: options.binary,
        args: flagsOf(options, endpoint),
        env: withoutOwnVariables(process.env),
        ...options.place,
        ready: async (signal) => {
          const answer = await ask(endpoint, options.trust, '/health', undefined, signal);
          return answer.includes('"true"');
        },
      },
      options.failed,
    );
    this.endpoint = endpoint;
    this.clientFiles = { ...options.files.etcdClient, ca: options.files.etcdCa };
    this.#trust = options.trust;
  }

  /** Compacts and defragments the history. kube-apiserver still serves watches from its watch cache until it restarts. */
  async compact(): Promise<void> {
    const { endpoint } = this;
    const range = await ask(endpoint, this.#trust, '/v3/kv/range', { key: 'AA==', count_only: true });
    const revision = /"revision":"(\d+)"/.exec(range)?.[1];
    if (revision === undefined) {
      throw new Error(`etcd returned no revision: ${range.slice(0, 200)}`);
    }
    await ask(endpoint, this.#trust, '/v3/kv/compaction', { revision, physical: true });
  }

  /**
   * Writes JSON values by key. kube-apiserver reads JSON as well as protobuf. There is one transaction for each value,
   * because objects with the same revision would have the same resourceVersion.
   */
  async put(values: ReadonlyMap<string, unknown>, signal: AbortSignal): Promise<void> {
    const base64 = (value: string): string => Buffer.from(value).toString('base64');
    using client = new Client(this.endpoint, this.#trust, 4);
    const put = async ([key, value]: [string, unknown]): Promise<void> => {
      const body = { key: base64(key), value: base64(JSON.stringify(value)) };
      await client.expect('/v3/kv/put', { method: 'POST', body, signal }, [200]);
    };
    await Promise.all([...values].map(put));
  }
}

/** etcd also reads each flag from a variable, and refuses to start if both are set. */
function withoutOwnVariables(env: NodeJS.ProcessEnv): Record<string, undefined> {
  const own = Object.keys(env).filter((name) => name.startsWith('ETCD_'));
  return Object.fromEntries(own.map((name) => [name, undefined]));
}

function flagsOf(options: EtcdOptions, endpoint: string): string[] {
  const peer = `http://127.0.0.1:${options.ports.peer}`;
  const { etcdCa, etcdServer } = options.files;
  return [
    '--name=default',
    `--data-dir=${options.dataDir}`,
    `--listen-client-urls=${endpoint}`,
    `--advertise-client-urls=${endpoint}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    `--cert-file=${etcdServer.cert}`,
    `--key-file=${etcdServer.key}`,
    '--client-cert-auth',
    `--trusted-ca-file=${etcdCa}`,
    // Test data need not survive a power failure.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

async function ask(
  endpoint: string,
  trust: EtcdOptions['trust'],
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<string> {
  const client = new Client(endpoint, trust, 1);
  try {
    const method = body === undefined ? 'GET' : 'POST';
    const request = { method, body, ...(signal === undefined ? {} : { signal }) } as const;
    return (await client.expect(path, request, [200])).body;
  } finally {
    client.close();
  }
}
