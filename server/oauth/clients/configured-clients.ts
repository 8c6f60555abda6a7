// Registry of the configured OAuth clients. The registry reloads client secrets from files and Secrets after each
// change.
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { record, texts } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import type { SourceThrottle } from '../throttle/delays.ts';
import type { ClientRegistry, ConfiguredClient } from './oauth-client.ts';
import { followSecretFile, withoutLineEnd } from './secret-file.ts';

interface ConfiguredClientsOptions {
  readonly clients: readonly ConfiguredClient[];
  readonly client: ClusterClient;
  /** Namespace of the Secrets. */
  readonly namespace: string;
  readonly throttle?: SourceThrottle | undefined;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Poll interval of files, in ms, besides change notifications. */
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

  get throttle(): SourceThrottle | undefined {
    return this.#options.throttle;
  }

  checkSecret(id: string, secret: string): boolean {
    return this.#secrets.matches(id, secret);
  }

  /** Whether the default client with its well-known secret is configured. */
  get usesWellKnownSecret(): boolean {
    return this.#options.clients.some(({ wellKnownSecret }) => wellKnownSecret !== undefined);
  }

  /** Watches the secrets until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { clients, log } = this.#options;
    for (const { id, wellKnownSecret } of clients) {
      if (wellKnownSecret === undefined) continue;
      log.warn(
        { client: id },
        'the default OAuth client with its well-known secret is in use: set oauth.clients',
      );
    }
    const files = clients.flatMap((client) =>
      client.secretFiles.map((path) => this.#followFile(client.id, path, signal)),
    );
    const names = new Set(clients.flatMap(({ secretRefs }) => secretRefs.map(({ name }) => name)));
    await Promise.all([...files, ...[...names].map((name) => this.#followSecret(name, signal))]);
  }

  #followFile(client: string, path: string, signal: AbortSignal): Promise<void> {
    const { log, pollMs } = this.#options;
    return followSecretFile(
      path,
      (secret, failure) => {
        this.#secrets.set(client, `file ${path}`, secret);
        if (failure === undefined) log.info({ client, path }, 'client secret loaded');
        else log.warn({ client, path, reason: failure }, 'cannot load the client secret');
      },
      signal,
      pollMs,
    );
  }

  async #followSecret(name: string, signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const changed = (secret: unknown): void => this.#load(name, secret);
    await followObject({ client, log, path, namespace, name }, changed, signal);
  }

  /** A Secret may contain secrets of several clients. */
  #load(name: string, secret: unknown): void {
    const { clients, log } = this.#options;
    const data = texts(record(secret)['data']);
    for (const { id, secretRefs } of clients) {
      for (const { name: wanted, key, optional } of secretRefs) {
        if (wanted !== name) continue;
        const value = withoutLineEnd(Buffer.from(data[key] ?? '', 'base64').toString('utf8'));
        this.#secrets.set(id, `secret ${name}/${key}`, value);
        if (value !== '') log.info({ client: id, secretName: name, key }, 'client secret loaded');
        else if (!optional) log.warn({ client: id, secretName: name, key }, 'client secret not found');
      }
    }
  }
}

/** Client secrets as digests under a per-process key, so that a memory dump reveals none. */
export class ClientSecrets {
  readonly #key = createSecretKey(randomBytes(32));
  /** Compared in place of an absent secret. */
  readonly #dummy = randomBytes(32);
  /** By client, then by source (a file, a Secret). */
  readonly #digests = new Map<string, Map<string, Buffer>>();

  /** `secret`: undefined or empty when the source has none. */
  set(client: string, source: string, secret: string | undefined): void {
    const sources = this.#digests.get(client) ?? new Map<string, Buffer>();
    this.#digests.set(client, sources);
    if (secret === undefined || secret === '') sources.delete(source);
    else sources.set(source, this.#digest(secret));
  }

  /** Makes the same number of comparisons for every client, known or unknown. */
  matches(client: string, secret: string): boolean {
    const presented = this.#digest(secret);
    const stored = [...(this.#digests.get(client)?.values() ?? [])];
    const comparisons = Math.max(1, ...this.#digests.values().map((sources) => sources.size));
    let found = false;
    for (let i = 0; i < comparisons; i++) {
      const digest = stored[i];
      const equal = timingSafeEqual(presented, digest ?? this.#dummy);
      found = (equal && digest !== undefined) || found;
    }
    return found;
  }

  #digest(secret: string): Buffer {
    return createHmac('sha256', this.#key).update(secret).digest();
  }
}
