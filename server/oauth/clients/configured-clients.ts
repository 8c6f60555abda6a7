// The clients of the configuration, with their secrets, which are followed where they are kept: in files, and in Secrets
// of our own namespace. Which client a request comes from is decided in client-authentication.
import type { Logger } from 'pino';
import { record, texts } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { ClientSecrets } from './client-secrets.ts';
import type { ClientRegistry, ConfiguredClient, SecretGuard } from './oauth-client.ts';
import { followSecretFile, withoutLineEnd } from './secret-file.ts';

export interface ConfiguredClientsOptions {
  readonly clients: readonly ConfiguredClient[];
  readonly client: ClusterClient;
  /** Of the Secrets. */
  readonly namespace: string;
  readonly guard?: SecretGuard | undefined;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** How often a file is read although no change was reported, in ms. */
  readonly pollMs?: number;
}

export class ConfiguredClients implements ClientRegistry {
  readonly #options: ConfiguredClientsOptions;
  readonly #clients: ReadonlyMap<string, ConfiguredClient>;
  readonly #secrets = new ClientSecrets();

  constructor(options: ConfiguredClientsOptions) {
    this.#options = options;
    this.#clients = new Map(options.clients.map((client) => [client.id, client]));
    for (const { id, wellKnownSecret } of options.clients) this.#secrets.set(id, 'default', wellKnownSecret);
  }

  get(id: string): ConfiguredClient | undefined {
    return this.#clients.get(id);
  }

  get guard(): SecretGuard | undefined {
    return this.#options.guard;
  }

  checkSecret(id: string, secret: string): boolean {
    return this.#secrets.matches(id, secret);
  }

  /** True while a client has the secret that everybody knows. */
  get usesWellKnownSecret(): boolean {
    return this.#options.clients.some(({ wellKnownSecret }) => wellKnownSecret !== undefined);
  }

  /** Follows the secrets until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clients, log } = this.#options;
    for (const { id, wellKnownSecret } of clients) {
      if (wellKnownSecret === undefined) continue;
      log.warn(
        { client: id },
        'the default OAuth client is in use, whose secret everybody knows: set oauth.clients',
      );
    }
    const files = clients.flatMap((client) =>
      client.secretFiles.map((path) => this.#followFile(client.id, path, signal)),
    );
    await Promise.all([...files, ...this.#secretNames().map((name) => this.#followSecret(name, signal))]);
  }

  #followFile(client: string, path: string, signal: AbortSignal): Promise<void> {
    const { log, pollMs } = this.#options;
    return followSecretFile(
      path,
      (secret, failure) => {
        this.#secrets.set(client, `file ${path}`, secret);
        if (failure === undefined) log.info({ client, path }, 'client secret taken into use');
        else log.warn({ client, path, reason: failure }, 'a file with a client secret cannot be used');
      },
      signal,
      pollMs,
    );
  }

  #secretNames(): string[] {
    return [
      ...new Set(this.#options.clients.flatMap(({ secretRefs }) => secretRefs.map(({ name }) => name))),
    ];
  }

  /** A Secret may hold secrets of several clients. */
  async #followSecret(name: string, signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const take = (secret: unknown): void => this.#take(name, secret);
    await followObject({ client, log, path, namespace, name }, take, signal);
  }

  #take(name: string, secret: unknown): void {
    const { clients, log } = this.#options;
    const data = texts(record(secret)['data']);
    for (const { id, secretRefs } of clients) {
      for (const { name: wanted, key } of secretRefs) {
        if (wanted !== name) continue;
        const value = withoutLineEnd(Buffer.from(data[key] ?? '', 'base64').toString('utf8'));
        this.#secrets.set(id, `secret ${name}/${key}`, value);
        if (value === '') log.warn({ client: id, secretName: name, key }, 'a client secret is not there');
        else log.info({ client: id, secretName: name, key }, 'client secret taken into use');
      }
    }
  }
}
