// Follows ConfigMap kube-system/extension-apiserver-authentication, in which kube-apiserver tells extension servers
// which CAs and headers to trust. What they mean is in delegated-authentication.ts; following an object through failures
// is the reflector's job.
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

export interface ClusterAuthenticationOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

export class ClusterAuthentication implements AuthenticationConfig {
  readonly #options: ClusterAuthenticationOptions;
  readonly #subscribers = new Set<() => void>();
  #current: DelegatedAuthentication | undefined;
  /** What the current settings were read from, to tell a change from a repetition. */
  #source = '';
  #generation = 0;

  constructor(options: ClusterAuthenticationOptions) {
    this.#options = options;
  }

  current(): DelegatedAuthentication | undefined {
    return this.#current;
  }

  /** PEM of every CA whose client certificates may be of use: what the handshake asks clients for. */
  clientCAs(): readonly string[] {
    const { clientCAs = [], frontProxy } = this.#current ?? {};
    return [...new Set([...clientCAs, ...(frontProxy?.cas ?? [])].map((ca) => ca.toString()))];
  }

  /** Every header that says who a caller is, in lower case; handlers must not see them. */
  identityHeaders = (): readonly string[] => this.#identityHeaders;

  #identityHeaders: readonly string[] = ['x-remote-'];

  /** Called after every change. Returns the function that ends it. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /** Follows the ConfigMap until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
    const read = (configMap: unknown): void => this.#read(configMap);
    await followObject({ client, log, path, namespace: NAMESPACE, name: NAME }, read, signal);
  }

  /** A ConfigMap that is gone trusts nobody; one that cannot be understood changes nothing. */
  #read(configMap: unknown): void {
    const data: AuthenticationData = texts(record(configMap)['data']);
    const source = JSON.stringify(data);
    if (this.#current && source === this.#source) return;
    let next: DelegatedAuthentication;
    try {
      next = parseDelegatedAuthentication(data, this.#generation + 1);
    } catch (err) {
      this.#options.log.warn(
        { err },
        `ConfigMap ${NAMESPACE}/${NAME} is refused: the settings before it stay`,
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
      'authentication settings read from the cluster',
    );
    if (!frontProxy) {
      log.warn(
        { flag: '--requestheader-client-ca-file' },
        'no front proxy: kube-apiserver has no request-header CA',
      );
    } else if (frontProxy.allowedNames.length === 0 && sharesCA(clientCAs, frontProxy.cas)) {
      log.warn(
        { flag: '--requestheader-allowed-names' },
        'every client certificate of the cluster may pose as front proxy: one CA for both, and no allowed names',
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
