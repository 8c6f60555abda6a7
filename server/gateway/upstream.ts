// Upstream: address, CA and connections of kube-apiserver for the gateway. It takes the cluster from the kubeconfig of
// this server, but never the credentials.
import type { KubeConfig } from '@kubernetes/client-node';
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import type { CallContext } from '../cluster/call-context.ts';
import { kubeConfigClass } from '../cluster/connection/client-node.ts';
import { CredentialSource, type Credentials, type Endpoint } from '../cluster/connection/credentials.ts';
import type { ConnectionPool } from '../upstream/connection-pool.ts';

/** Interval in ms at which the address and the CA are read again. */
const REFRESH_MS = 10_000;
/** The same while kube-apiserver is unreachable: it may have another address. */
const UNREACHABLE_REFRESH_MS = 1_000;
/** Maximum wait for the first read, in ms. */
const READ_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;

export interface UpstreamTarget {
  readonly endpoint: Endpoint;
  readonly pool: ConnectionPool;
  /** Maximum time to open a connection, in ms. */
  readonly connectTimeoutMs: number;
  /** Called after a connection could not be opened. */
  readonly unreachable: () => void;
}

interface UpstreamOptions {
  /** Monotonic clock in ms. */
  readonly now?: (() => number) | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

export class Upstream {
  readonly #source: CredentialSource;
  readonly #connectTimeoutMs: number;
  #credentials: Credentials | undefined;
  #target: UpstreamTarget | undefined;

  constructor(
    kubeConfig: (reload: boolean) => KubeConfig,
    { now = () => performance.now(), connectTimeoutMs = CONNECT_TIMEOUT_MS }: UpstreamOptions = {},
  ) {
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#source = new CredentialSource((reload) => withoutUser(kubeConfig(reload)), REFRESH_MS, now);
  }

  /** Throws ServiceUnavailable if the kubeconfig is unreadable. */
  target(context: CallContext): UpstreamTarget | Promise<UpstreamTarget> {
    const current = this.#source.get();
    if (!(current instanceof Promise)) return this.#targetOf(current);
    return this.#read(context.signal);
  }

  /** Closes idle connections. */
  close(): void {
    this.#source.close();
  }

  async #read(signal: AbortSignal): Promise<UpstreamTarget> {
    try {
      return this.#targetOf(await this.#source.within({ signal, ms: READ_TIMEOUT_MS }));
    } catch (cause) {
      signal.throwIfAborted();
      throw newServiceUnavailable('the address of kube-apiserver is unknown', 1, { cause });
    }
  }

  #targetOf(credentials: Credentials): UpstreamTarget {
    if (!this.#target || this.#credentials !== credentials) {
      const { endpoint, pool } = credentials;
      this.#target = {
        endpoint,
        pool,
        connectTimeoutMs: this.#connectTimeoutMs,
        unreachable: () => this.#source.expire(UNREACHABLE_REFRESH_MS),
      };
      this.#credentials = credentials;
    }
    return this.#target;
  }
}

/** The cluster of a kubeconfig with a user that has no credentials. */
export function withoutUser(config: KubeConfig): KubeConfig {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('the kubeconfig has no current cluster');
  const anonymous = new (kubeConfigClass())();
  anonymous.loadFromClusterAndUser(cluster, { name: 'gateway' });
  return anonymous;
}
