// The keys of the token handler: made at the first start, kept in a Secret, followed by every replica. When they
// change is decided in rotation.ts and done by key-rotator.ts, in the elected replica.
import type { CryptoKey, JWK } from 'jose';
import type { Logger } from 'pino';
import { isAlreadyExists, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { isNewer } from '../../cluster/reflector/resource-version.ts';
import { Backoff } from '../../concurrency/backoff.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { ImportedKeys } from './imported-keys.ts';
import type { KeyRing, SigningKey } from './key-ring.ts';
import { KeySecret, type SecretPlace, type StoredKeys, storedKeys } from './key-secret.ts';
import { newKey } from './new-key.ts';
import { firstSet } from './rotation.ts';

export interface SecretKeyRingOptions extends SecretPlace {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
  /** Ms that never go back. */
  readonly monotonic?: () => number;
}

/** How often a stranger's `kid` may make us ask the cluster. */
const REREAD_MS = 10_000;
const REREAD_TIMEOUT_MS = 3_000;

export class SecretKeyRing implements KeyRing {
  readonly #options: SecretKeyRingOptions;
  readonly #secret: KeySecret;
  readonly #subscribers = new Set<() => void>();
  #keys: ImportedKeys | undefined;
  /** The resourceVersion that these are of. */
  #version: string | undefined;
  /** Imports run one after the other, so that the last one to arrive is the last one to count. */
  #importing: Promise<void> = Promise.resolve();
  #rereadAt = Number.NEGATIVE_INFINITY;
  #rereading: Promise<void> | undefined;

  constructor(options: SecretKeyRingOptions) {
    this.#options = options;
    this.#secret = new KeySecret(options.client, options);
  }

  get ready(): boolean {
    return this.#keys !== undefined;
  }

  signing(): SigningKey {
    return this.#known().signing();
  }

  verification(kid: string): CryptoKey | undefined {
    return this.#keys?.verification(kid);
  }

  hintVerification(kid: string): CryptoKey | undefined {
    return this.#keys?.hintVerification(kid);
  }

  jwks(): { readonly keys: readonly JWK[] } {
    return this.#known().jwks();
  }

  mac(purpose: string, message: string): string {
    return this.#known().mac(purpose, message);
  }

  macs(purpose: string, message: string): readonly [Buffer, ...Buffer[]] {
    return this.#known().macs(purpose, message);
  }

  checkMac(purpose: string, message: string, mac: string): boolean {
    return this.#keys?.checkMac(purpose, message, mac) ?? false;
  }

  /** Called after every change of the Secret. Returns the function that ends it. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /**
   * From the cluster itself, for a `kid` that nobody here knows yet: another replica may have heard of a rotation a
   * moment earlier. At most once in ten seconds; a failure is nobody's business, the key just stays unknown.
   */
  reread(): Promise<void> {
    const now = (this.#options.monotonic ?? (() => performance.now()))();
    if (!this.#rereading && now - this.#rereadAt >= REREAD_MS) {
      this.#rereadAt = now;
      this.#rereading = this.#secret
        .read(AbortSignal.timeout(REREAD_TIMEOUT_MS))
        .then((stored) => this.#acceptNewer(stored))
        .catch((err: unknown) => this.#options.log.debug({ err }, 'the keys cannot be read now'))
        .finally(() => {
          this.#rereading = undefined;
        });
    }
    return this.#rereading ?? Promise.resolve();
  }

  /** Follows the Secret, and makes it where there is none, until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log, namespace, name } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const missing = new Wakeup();
    const take = (secret: unknown): void => {
      if (secret === undefined) missing.wake();
      else this.#read(secret);
    };
    const following = followObject({ client, log, path, namespace, name }, take, signal);
    await Promise.all([following, this.#make(missing, signal)]);
    await this.#importing;
  }

  /** Whoever deletes the Secret wants new keys: every session and every token is over then. */
  async #make(missing: Wakeup, signal: AbortSignal): Promise<void> {
    const { log, name } = this.#options;
    const backoff = new Backoff({ initialMs: 500, maxMs: 30_000, random: Math.random });
    const failures = new RepeatedFailure(this.#options.monotonic);
    while (await missing.next(signal)) {
      try {
        const now = (this.#options.now ?? Date.now)();
        const made = await this.#secret.create(firstSet(await newKey(), now), signal);
        log.info({ secretName: name }, 'new signing keys made');
        await this.#acceptNewer(made);
        backoff.reset();
        failures.end();
      } catch (err) {
        if (signal.aborted) return;
        // The watch brings what the faster replica has made.
        if (isAlreadyExists(err)) continue;
        const level = failures.isNews(messageOf(err)) ? 'warn' : 'debug';
        log[level]({ err, secretName: name }, 'the signing keys cannot be made now');
        await pause(backoff.next(), signal);
        missing.wake();
      }
    }
  }

  #read(object: unknown): void {
    try {
      this.#accept(storedKeys(object)).catch(() => undefined);
    } catch (err) {
      this.#refuse(err);
    }
  }

  /**
   * An answer may arrive after the watch has brought a later version, in which these keys may be gone. What the watch
   * brings is in order, and counts even when a cluster was restored from a backup.
   */
  #acceptNewer(stored: StoredKeys): Promise<void> {
    return this.#accept(stored, (current) => isNewer(stored.resourceVersion, current));
  }

  #accept(stored: StoredKeys, counts: (current: string) => boolean = () => true): Promise<void> {
    this.#importing = this.#importing.then(async () => {
      const current = this.#version;
      if (current === stored.resourceVersion || (current !== undefined && !counts(current))) return;
      try {
        this.#keys = await ImportedKeys.from(stored.set);
        this.#version = stored.resourceVersion;
        this.#options.log.info(
          { keys: stored.set.keys.map(({ kid, state }) => ({ kid, state })) },
          'signing keys',
        );
        for (const changed of this.#subscribers) changed();
      } catch (err) {
        this.#refuse(err);
      }
    });
    return this.#importing;
  }

  /** A Secret that cannot be read changes nothing: the keys stay as they are, and nobody's Secret is overwritten. */
  #refuse(err: unknown): void {
    this.#options.log.warn(
      { err, secretName: this.#options.name },
      'the Secret of the signing keys is refused',
    );
  }

  #known(): ImportedKeys {
    if (!this.#keys) throw newServiceUnavailable('there are no signing keys yet');
    return this.#keys;
  }
}
