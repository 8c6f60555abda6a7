// Cache of this server's kubeconfig credentials for kube-apiserver. The cache refreshes the credentials periodically.
import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { hasCertificate } from '../../files/pem-certificates.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { addressOf, basicAuthorization } from '../../upstream/address.ts';
import { ConnectionPool } from '../../upstream/connection-pool.ts';
import { pluginOf } from './exec-plugins.ts';

/** The endpoint of kube-apiserver, and the authentication of the server's requests. */
export interface Credentials {
  readonly endpoint: Endpoint;
  readonly pool: ConnectionPool;
  readonly headers: OutgoingHttpHeaders;
}

/** Address of kube-apiserver. */
export interface Endpoint {
  /** Host and port. */
  readonly authority: string;
  /** Prefix of every path, without a trailing slash. */
  readonly basePath: string;
}

/** Limits the time for which a caller waits for credentials. */
interface CredentialLimit {
  readonly signal: AbortSignal;
  /** Timeout in ms. */
  readonly ms: number;
}

/** Receives events for the log. */
interface CredentialObserver {
  /** `source` has not returned credentials for two seconds. */
  slow?(source: string): void;
  /** A refresh failed, so the current credentials stay in use. Called once per distinct failure. */
  kept?(error: unknown): void;
}

/** Time in ms after which a source of credentials is reported as slow. */
const SLOW_MS = 2_000;

/**
 * A cache of the credentials, refreshed after `refreshMs`. A refresh applies the kubeconfig, for which client-node
 * reads token files and certificates and runs exec plugins. Changed TLS material gets a new pool of connections.
 */
export class CredentialSource {
  readonly #kubeConfig: (reload: boolean) => KubeConfig;
  readonly #refreshMs: number;
  readonly #now: () => number;
  readonly #observer: CredentialObserver;
  readonly #failures: RepeatedFailure;
  #source = 'the kubeconfig';
  #current: Credentials | undefined;
  #material: readonly unknown[] = [];
  #appliedAt = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #refresh: Promise<Credentials> | undefined;

  constructor(
    kubeConfig: (reload: boolean) => KubeConfig,
    refreshMs: number,
    now: () => number,
    observer: CredentialObserver = {},
  ) {
    this.#kubeConfig = kubeConfig;
    this.#refreshMs = refreshMs;
    this.#now = now;
    this.#observer = observer;
    this.#failures = new RepeatedFailure(now);
  }

  /** Returns the credentials. `newerThan`: credentials that kube-apiserver has rejected, which forces a reload. */
  get(newerThan?: Credentials): Credentials | Promise<Credentials> {
    const fresh = this.#now() - this.#appliedAt < this.#refreshMs;
    if (this.#current && fresh && this.#current !== newerThan) return this.#current;
    const refused = newerThan !== undefined && this.#current === newerThan;
    this.#refresh ??= (refused ? this.#apply(true) : this.#refreshed()).finally(() => {
      this.#refresh = undefined;
    });
    return this.#refresh;
  }

  /** Returns the current credentials if the refresh fails, because a kubeconfig or token file can be half-written. */
  async #refreshed(): Promise<Credentials> {
    try {
      return await this.#apply(false);
    } catch (error) {
      if (!this.#current) throw error;
      this.#appliedAt = this.#now();
      if (this.#failures.isNews(messageOf(error))) this.#observer.kept?.(error);
      return this.#current;
    }
  }

  /** Returns the credentials as get() does, within a time limit. After it, loading continues for later callers. */
  within(limit: CredentialLimit, newerThan?: Credentials): Credentials | Promise<Credentials> {
    const credentials = this.get(newerThan);
    return credentials instanceof Promise ? this.#inTime(credentials, limit) : credentials;
  }

  async #inTime(credentials: Promise<Credentials>, { signal, ms }: CredentialLimit): Promise<Credentials> {
    using bounded = boundedSignal(signal, ms);
    try {
      return await orAborted(credentials, bounded.signal);
    } catch (error) {
      throw bounded.isLate ? new Error(`${this.#source} returned no credentials within ${ms} ms`) : error;
    }
  }

  /** Makes the next call refresh the credentials, unless the last refresh is less than `ms` ago. */
  expire(ms: number): void {
    if (this.#now() - this.#appliedAt >= ms) this.#appliedAt = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    this.#current?.pool.retire();
  }

  /**
   * Applies the kubeconfig. `refused`: kube-apiserver has rejected the credentials, for example the token of a plugin
   * without an expiry. A rejection forces a reload at most every `refreshMs`, so that a plugin that returns the same
   * token again does not run for each request.
   */
  async #apply(refused: boolean): Promise<Credentials> {
    const reload = refused && this.#now() - this.#renewedAt >= this.#refreshMs;
    if (reload) this.#renewedAt = this.#now();
    const config = this.#kubeConfig(reload);
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig has no current cluster');
    const server = new URL(cluster.server);
    const options: RequestOptions = {};
    this.#source = sourceOf(config);
    const timer = setTimeout(() => this.#observer.slow?.(this.#source), SLOW_MS);
    try {
      await config.applyToHTTPSOptions(options);
    } finally {
      clearTimeout(timer);
    }
    checkCA(options);
    const material = [server.href, cluster.proxyUrl, options.servername, options.rejectUnauthorized].concat(
      [options.ca, options.cert, options.key].map(String),
    );
    const same = this.#current && material.every((value, i) => value === this.#material[i]);
    const pool = same && this.#current ? this.#current.pool : poolFor(server, cluster.proxyUrl, options);
    // Streams in flight continue.
    if (this.#current && pool !== this.#current.pool) this.#current.pool.retire();
    this.#failures.end();
    this.#material = material;
    this.#appliedAt = this.#now();
    this.#current = {
      endpoint: { authority: addressOf(server).authority, basePath: server.pathname.replace(/\/$/, '') },
      pool,
      headers: {
        ...(options.auth ? { Authorization: basicAuthorization(options.auth) } : {}),
        ...(options.headers as OutgoingHttpHeaders | undefined),
      },
    };
    return this.#current;
  }
}

/** Returns the source of the credentials, for messages. */
function sourceOf(config: KubeConfig): string {
  const user = config.getCurrentUser();
  const plugin = user ? pluginOf(user) : undefined;
  if (plugin !== undefined) return plugin;
  if (!user?.authProvider) return 'the kubeconfig';
  return `the auth provider ${JSON.stringify(user.authProvider.name)} of the kubeconfig`;
}

/** Node accepts a CA bundle without certificates, and then rejects each server without naming the bundle. */
function checkCA({ ca, rejectUnauthorized }: RequestOptions): void {
  if (ca === undefined || rejectUnauthorized === false || hasCertificate(String(ca))) return;
  throw new Error('the certificate authority of the cluster in the kubeconfig contains no certificate');
}

function poolFor(
  url: URL,
  proxyUrl: string | undefined,
  { ca, cert, key, servername, rejectUnauthorized }: RequestOptions,
): ConnectionPool {
  return new ConnectionPool({ url, tls: { ca, cert, key, servername, rejectUnauthorized }, proxyUrl });
}
