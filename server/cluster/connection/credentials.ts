// Cache of this server's kubeconfig credentials for kube-apiserver. The cache refreshes the credentials periodically.
import { Agent, type Agent as HttpAgent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { ClusterAgent } from './cluster-agent.ts';
import { pluginOf } from './exec-plugins.ts';

/** The endpoint of kube-apiserver, and the authentication of the server's requests. */
export interface Credentials {
  readonly endpoint: Endpoint;
  readonly agent: HttpAgent;
  readonly headers: OutgoingHttpHeaders;
  /** `user:password` of HTTP basic authentication, if the kubeconfig has it. */
  readonly auth: string | undefined;
}

/** Address of kube-apiserver, as request options. */
export interface Endpoint {
  readonly secure: boolean;
  readonly host: string;
  readonly port: string | number;
  /** Prefix of every path, without a trailing slash. */
  readonly basePath: string;
}

/** Limits the time for which a caller waits for credentials. */
export interface CredentialLimit {
  readonly signal: AbortSignal;
  /** Timeout in ms. */
  readonly ms: number;
}

/** Receives events for the log. */
export interface CredentialObserver {
  /** `source` has not returned credentials for two seconds. */
  slow?(source: string): void;
  /** A refresh failed, so the current credentials stay in use. Called once per distinct failure. */
  kept?(error: unknown): void;
}

const TCP_KEEP_ALIVE_MS = 15_000;
/** Time in ms after which a source of credentials is reported as slow. */
const SLOW_MS = 2_000;

/**
 * A cache of the credentials, refreshed after `refreshMs`. A refresh applies the kubeconfig, for which client-node
 * reads token files and certificates and runs exec plugins. Changed TLS material gets a new agent, because the options
 * of an agent take precedence over those of a request; otherwise the agent is reused.
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
  within({ signal, ms }: CredentialLimit, newerThan?: Credentials): Credentials | Promise<Credentials> {
    const credentials = this.get(newerThan);
    if (!(credentials instanceof Promise)) return credentials;
    const { promise, resolve, reject } = Promise.withResolvers<Credentials>();
    const aborted = (): void => reject(signal.reason as Error);
    const timer = setTimeout(
      () => reject(new Error(`${this.#source} returned no credentials within ${ms} ms`)),
      ms,
    );
    signal.addEventListener('abort', aborted, { once: true });
    credentials.then(resolve, reject);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
    });
  }

  /** Makes the next call refresh the credentials, unless the last refresh is less than `ms` ago. */
  expire(ms: number): void {
    if (this.#now() - this.#appliedAt >= ms) this.#appliedAt = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    this.#current?.agent.destroy();
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
    const material = [server.href, cluster.proxyUrl, options.servername, options.rejectUnauthorized].concat(
      [options.ca, options.cert, options.key].map(String),
    );
    const same = this.#current && material.every((value, i) => value === this.#material[i]);
    const agent = same && this.#current ? this.#current.agent : agentFor(server, cluster.proxyUrl, options);
    if (this.#current && agent !== this.#current.agent) closeIdle(this.#current.agent);
    this.#failures.end();
    this.#material = material;
    this.#appliedAt = this.#now();
    this.#current = {
      endpoint: endpointOf(server),
      agent,
      headers: { ...(options.headers as OutgoingHttpHeaders | undefined) },
      auth: options.auth ?? undefined,
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

function endpointOf({ protocol, hostname, port, pathname }: URL): Endpoint {
  const secure = protocol !== 'http:';
  return {
    secure,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : port,
    basePath: pathname.replace(/\/$/, ''),
  };
}

function agentFor(server: URL, proxyUrl: string | undefined, options: RequestOptions): HttpAgent {
  if (proxyUrl !== undefined && options.agent instanceof Agent) return options.agent;
  const keepAlive = { keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS, scheduling: 'lifo' } as const;
  if (server.protocol === 'http:') return new Agent(keepAlive);
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return new ClusterAgent({
    ...keepAlive,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  });
}

/** Closes idle sockets. Streams in flight continue; new requests use the new agent. */
function closeIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
