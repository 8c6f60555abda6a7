// Key ring that every replica loads from the same Secret. The first replica creates the keys, and the leader rotates
// them.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { isNewer } from '../../cluster/reflector/resource-version.ts';
import type { SecretLocation } from '../../cluster/secrets/installed-secret.ts';
import type { SharedSecret } from '../../cluster/secrets/shared-secret.ts';
import { ImportedKeys } from './key-ring.ts';
import { KEYS_ENTRY, KeySecret, type StoredKeys, storedKeys } from './key-secret.ts';
import { firstSet, newKey, writeKeySet } from './key-set.ts';

interface SecretKeyRingOptions extends SecretLocation {
  readonly client: Pick<ClusterClient, 'json'>;
  /** Delivers the keys. */
  readonly secret: Pick<SharedSecret, 'keep'>;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
  /** Monotonic ms. */
  readonly monotonic?: () => number;
}

/** Minimum interval of re-reads, because a client can send any `kid`. */
const REREAD_MS = 10_000;
const REREAD_TIMEOUT_MS = 3_000;

export class SecretKeyRing extends ImportedKeys {
  readonly #options: SecretKeyRingOptions;
  readonly #secret: KeySecret;
  readonly #subscribers = new Set<() => void>();
  /** `resourceVersion` of the Secret with the current keys. */
  #version: string | undefined;
  /** Imports are serialized, so the last delivered version wins. */
  #importing: Promise<void> = Promise.resolve();
  #rereadAt = Number.NEGATIVE_INFINITY;
  #rereading: Promise<void> | undefined;

  constructor(options: SecretKeyRingOptions) {
    super();
    this.#options = options;
    this.#secret = new KeySecret(options.client, options);
    options.secret.keep({
      key: KEYS_ENTRY,
      title: 'signing keys',
      // New keys invalidate every session and token.
      create: async () => writeKeySet(firstSet(await newKey(), (options.now ?? Date.now)())),
      changed: (_content, secret) => {
        this.#accept(storedKeys(secret)).catch(() => undefined);
      },
    });
  }

  /** Calls `changed` after every change of the Secret. Returns the unsubscribe function. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /**
   * Re-reads the Secret, for a `kid` of a rotation that the watch has not delivered yet. At most once in ten seconds.
   * Never rejects: after a failure the key stays unknown.
   */
  reread(): Promise<void> {
    const now = (this.#options.monotonic ?? (() => performance.now()))();
    if (!this.#rereading && now - this.#rereadAt >= REREAD_MS) {
      this.#rereadAt = now;
      this.#rereading = this.#secret
        .read(AbortSignal.timeout(REREAD_TIMEOUT_MS))
        .then((stored) => this.#acceptNewer(stored))
        .catch((err: unknown) => this.#options.log.debug({ err }, 'cannot re-read the signing keys'))
        .finally(() => {
          this.#rereading = undefined;
        });
    }
    return this.#rereading ?? Promise.resolve();
  }

  /**
   * Accepts the keys of a response if they are newer, because the watch may already have delivered a later version. Watch
   * events are in order and always accepted, even with an older version: the cluster may have been restored from a backup.
   */
  #acceptNewer(stored: StoredKeys): Promise<void> {
    return this.#accept(stored, (current) => isNewer(stored.resourceVersion, current));
  }

  #accept(stored: StoredKeys, replaces: (current: string) => boolean = () => true): Promise<void> {
    this.#importing = this.#importing.then(async () => {
      const current = this.#version;
      if (current === stored.resourceVersion || (current !== undefined && !replaces(current))) return;
      try {
        await this.load(stored.set);
        this.#version = stored.resourceVersion;
        this.#options.log.info(
          { keys: stored.set.keys.map(({ kid, state }) => ({ kid, state })) },
          'signing keys loaded',
        );
        for (const changed of this.#subscribers) changed();
      } catch (err) {
        this.#reject(err);
      }
    });
    return this.#importing;
  }

  /** An invalid Secret changes nothing: the current keys stay in use, and the Secret is not overwritten. */
  #reject(err: unknown): void {
    this.#options.log.warn(
      { err, secretName: this.#options.name },
      'the Secret of the signing keys is invalid',
    );
  }
}
