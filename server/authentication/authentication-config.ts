// Watches the ConfigMap kube-system/extension-apiserver-authentication, with the CAs and header names for extension
// servers. delegated-authentication.ts parses the ConfigMap.
import type { Logger } from 'pino';
import { record, texts } from '../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { followObject } from '../cluster/reflector/followed-object.ts';
import {
  type AuthenticationConfig,
  type AuthenticationData,
  type DelegatedAuthentication,
  parseDelegatedAuthentication,
} from './delegated-authentication.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';

interface ClusterAuthenticationOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

export class ClusterAuthentication implements AuthenticationConfig {
  readonly #options: ClusterAuthenticationOptions;
  readonly #subscribers = new Set<() => void>();
  #current: DelegatedAuthentication | undefined;
  /** The data of the ConfigMap as JSON, to detect changes. */
  #source = '';
  #generation = 0;

  constructor(options: ClusterAuthenticationOptions) {
    this.#options = options;
  }

  current(): DelegatedAuthentication | undefined {
    return this.#current;
  }

  /** The CAs (PEM) that TLS handshakes announce, so that clients choose a matching client certificate. */
  clientCAs(): readonly string[] {
    const { clientCAs = [], frontProxy } = this.#current ?? {};
    return [...new Set([...clientCAs, ...(frontProxy?.cas ?? [])].map((ca) => ca.toString()))];
  }

  /** The names and prefixes of identity headers, in lower case. Handlers must not see these headers. */
  identityHeaders = (): readonly string[] => this.#identityHeaders;

  #identityHeaders: readonly string[] = ['x-remote-'];

  /** Calls `changed` after every change of the settings. Returns the function that removes it. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /** Watches the ConfigMap until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
    const read = (configMap: unknown): void => this.#read(configMap);
    await followObject({ client, log, path, namespace: NAMESPACE, name: NAME }, read, signal);
  }

  /**
   * Loads the settings. Without a ConfigMap at the start, no CA is trusted. A later deletion is ignored, because kube-apiserver
   * recreates the ConfigMap within a second. An invalid ConfigMap is logged and ignored.
   */
  #read(configMap: unknown): void {
    if (this.#current && configMap === undefined) return;
    const data: AuthenticationData = texts(record(configMap)['data']);
    const source = JSON.stringify(data);
    if (this.#current && source === this.#source) return;
    let next: DelegatedAuthentication;
    try {
      next = parseDelegatedAuthentication(data, this.#generation + 1);
    } catch (err) {
      this.#options.log.warn(
        { err },
        `ConfigMap ${NAMESPACE}/${NAME} is invalid, the current settings stay in use`,
      );
      return;
    }
    this.#generation = next.generation;
    this.#source = source;
    this.#current = next;
    this.#identityHeaders = identityHeadersOf(next);
    this.#report(next);
    for (const changed of this.#subscribers) changed();
  }

  #report({ generation, clientCAs, frontProxy }: DelegatedAuthentication): void {
    const { log } = this.#options;
    log.info(
      { generation, clientCAs: clientCAs.length, frontProxyCAs: frontProxy?.cas.length ?? 0 },
      'authentication settings loaded from the cluster',
    );
    if (!frontProxy) {
      log.warn(
        { flag: '--requestheader-client-ca-file' },
        'no front proxy: kube-apiserver publishes no request-header CA',
      );
    } else if (frontProxy.allowedNames.length === 0 && sharesCA(clientCAs, frontProxy.cas)) {
      log.warn(
        { flag: '--requestheader-allowed-names' },
        'every client certificate of the cluster can act as front proxy: both use one CA, without allowed names',
      );
    }
  }
}

function identityHeadersOf({ frontProxy }: DelegatedAuthentication): readonly string[] {
  if (!frontProxy) return ['x-remote-'];
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = frontProxy;
  const own = [...usernameHeaders, ...uidHeaders, ...groupHeaders, ...extraHeaderPrefixes];
  return ['x-remote-', ...own.filter((name) => !name.startsWith('x-remote-'))];
}

type CAs = DelegatedAuthentication['clientCAs'];

function sharesCA(some: CAs, others: CAs): boolean {
  return some.some((ca) => others.some((other) => other.raw.equals(ca.raw)));
}
