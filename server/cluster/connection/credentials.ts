import { Agent, type Agent as HttpAgent, type OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { ClusterAgent } from './cluster-agent.ts';
import { pluginOf } from './exec-plugins.ts';

/** Everything a request needs to reach kube-apiserver as ourselves. */
export interface Credentials {
  readonly endpoint: Endpoint;
  readonly agent: HttpAgent;
  readonly headers: OutgoingHttpHeaders;
  /** `user:password` of HTTP basic authentication, where a kubeconfig has it. */
  readonly auth: string | undefined;
}

/** Of kube-apiserver, as requests name it. */
export interface Endpoint {
  readonly secure: boolean;
  readonly host: string;
  readonly port: string | number;
  /** In front of every path, without a slash at its end. */
  readonly basePath: string;
}

/** How long somebody is ready to wait. */
export interface Patience {
  readonly signal: AbortSignal;
  readonly ms: number;
}

/** Told what is worth a line of the log. */
export interface CredentialObserver {
  /** `giver` has given no credentials for two seconds, and is waited for. */
  slow?(giver: string): void;
  /** They could not be read anew, so those in hand are used until they are refused; of one failure, the news. */
  kept?(error: unknown): void;
}

const TCP_KEEP_ALIVE_MS = 15_000;
/** Most plugins are done by then; those that ask a person are not. */
const SLOW_MS = 2_000;

/**
 * Applies the kubeconfig at most every `refreshMs`: client-node reads token files, certificates and exec plugins
 * anew each time. While the TLS material stays the same the connections are kept; new material gets a new agent,
 * because Node gives an agent's own options precedence over those of a request.
 */
export class CredentialSource {
  readonly #kubeConfig: (anew: boolean) => KubeConfig;
  readonly #refreshMs: number;
  readonly #now: () => number;
  readonly #observer: CredentialObserver;
  readonly #failures: RepeatedFailure;
  #giver = 'the kubeconfig';
  #current: Credentials | undefined;
  #material: readonly unknown[] = [];
  #appliedAt = 0;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #refresh: Promise<Credentials> | undefined;

  constructor(
    kubeConfig: (anew: boolean) => KubeConfig,
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

  /** `newerThan`: credentials that were refused; they are not given again without reading everything anew. */
  get(newerThan?: Credentials): Credentials | Promise<Credentials> {
    const fresh = this.#now() - this.#appliedAt < this.#refreshMs;
    if (this.#current && fresh && this.#current !== newerThan) return this.#current;
    const refused = newerThan !== undefined && this.#current === newerThan;
    this.#refresh ??= (refused ? this.#apply(true) : this.#refreshed()).finally(() => {
      this.#refresh = undefined;
    });
    return this.#refresh;
  }

  /** Whoever writes a kubeconfig or a token anew is seen halfway now and then, and those in hand still hold. */
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

  /** As get(), for who waits so long only. Whatever gives them goes on, for those who come later. */
  within({ signal, ms }: Patience, newerThan?: Credentials): Credentials | Promise<Credentials> {
    const credentials = this.get(newerThan);
    if (!(credentials instanceof Promise)) return credentials;
    const { promise, resolve, reject } = Promise.withResolvers<Credentials>();
    const gone = (): void => reject(signal.reason as Error);
    const timer = setTimeout(
      () => reject(new Error(`${this.#giver} gave no credentials within ${ms} ms`)),
      ms,
    );
    signal.addEventListener('abort', gone, { once: true });
    credentials.then(resolve, reject);
    return promise.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    });
  }

  close(): void {
    this.#current?.agent.destroy();
  }

  /** `refused`: a token of a plugin that has no end counts until then; plugins that know no better are not asked each time. */
  async #apply(refused: boolean): Promise<Credentials> {
    const anew = refused && this.#now() - this.#renewedAt >= this.#refreshMs;
    if (anew) this.#renewedAt = this.#now();
    const config = this.#kubeConfig(anew);
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig has no current cluster');
    const server = new URL(cluster.server);
    const options: RequestOptions = {};
    this.#giver = giverOf(config);
    const timer = setTimeout(() => this.#observer.slow?.(this.#giver), SLOW_MS);
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

/** What credentials come from, for people. */
function giverOf(config: KubeConfig): string {
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

/** Streams in flight go on until they end; nothing new comes to this agent. */
function closeIdle(agent: HttpAgent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
