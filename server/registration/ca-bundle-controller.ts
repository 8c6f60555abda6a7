import type { Logger } from 'pino';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { followObject } from '../cluster/reflector/followed-object.ts';
import { Backoff } from '../concurrency/backoff.ts';
import { pause } from '../concurrency/pause.ts';
import { RepeatedFailure } from '../observability/repeated-failure.ts';
import { type ApiService, desiredBundle, type Others, readApiService } from './ca-bundle.ts';

/** Field manager of `spec.caBundle`, the only field that it owns. */
export const FIELD_MANAGER = 'ks-apiserver-ca-bundle';

/** The CA of the TLS listener. */
export interface ServingCA {
  /** PEM, one certificate or several. */
  current(): string;
  /** Calls `listener` after each change. Returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

export interface ControllerOptions {
  readonly client: ClusterClient;
  readonly servingCA: ServingCA;
  /**
   * Whether all replicas serve with the same CA (certificate files): other certificates are removed after `settleMs`.
   * Otherwise each replica has a self-signed CA, and all CAs of the same name stay in the bundle.
   */
  readonly sharedCA: boolean;
  readonly log: Logger;
  /** Delay before the CA of another replica is removed; ten minutes by default. */
  readonly settleMs?: number;
  /** First delay after a failure; one second by default. */
  readonly retryMs?: number;
}

const TRUSTED = 'trusts the serving CA';
const SETTLE_MS = 600_000;
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
/** Corrections within QUIET_MS of each other that indicate another writer. */
const CONTESTED_CORRECTIONS = 4;
const QUIET_MS = 120_000;

/**
 * Level-triggered controller that keeps the serving CA in `spec.caBundle` of one APIService. It never creates or deletes an
 * APIService, and changes no other field.
 */
export class CaBundleController {
  readonly #name: string;
  readonly #options: ControllerOptions;
  /** After failures. */
  readonly #retries: Backoff;
  /** Between contested corrections. */
  readonly #contention: Backoff;
  readonly #failures = new RepeatedFailure();
  #seen: ApiService | undefined;
  #state = 'has not been read yet';
  #work: Promise<void> = Promise.resolve();
  #settling: { readonly own: string; readonly timer: NodeJS.Timeout } | undefined;
  #lastCorrection = Number.NEGATIVE_INFINITY;
  /** Corrections without QUIET_MS between them. */
  #contested = 0;

  constructor(name: string, options: ControllerOptions) {
    this.#name = name;
    this.#options = options;
    const pauses = {
      initialMs: options.retryMs ?? RETRY_MS,
      maxMs: LONGEST_RETRY_MS,
      random: Math.random,
    };
    this.#retries = new Backoff(pauses);
    this.#contention = new Backoff(pauses);
  }

  /** Whether the last known APIService contains the serving CA. */
  get trusted(): boolean {
    return this.#state === TRUSTED;
  }

  get name(): string {
    return this.#name;
  }

  /** One line for /readyz?verbose. */
  get state(): string {
    return `${this.#name} ${this.#state}`;
  }

  /** Resolves when `signal` is aborted. Requests only this name: the server has no permission for the others. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, servingCA, log } = this.#options;
    let isListed = false;
    const take = (apiService: unknown, byList: boolean): void => {
      isListed = true;
      const seen = readApiService(apiService);
      // A list is always current: after the restore of a backup, resourceVersions are lower.
      if (!byList && isOlder(seen, this.#seen)) return;
      this.#seen = seen;
      this.#enqueue(signal);
    };
    const unsubscribe = servingCA.onChange(() => {
      if (isListed) this.#enqueue(signal);
    });
    try {
      await followObject({ client, log, path: API_SERVICES, name: this.#name }, take, signal);
    } finally {
      unsubscribe();
      clearTimeout(this.#settling?.timer);
      await this.#work;
    }
  }

  /** Serializes corrections. Each one uses the state at its start. */
  #enqueue(signal: AbortSignal): void {
    this.#work = this.#work.then(() => this.#reconcile(signal));
  }

  async #reconcile(signal: AbortSignal, settled = false): Promise<void> {
    while (!signal.aborted) {
      const seen = this.#seen;
      if (!this.#isManaged(seen)) return;
      const own = this.#options.servingCA.current();
      const others = settled ? this.#permanent() : this.#transitional(seen);
      const bundle = desiredBundle(seen.caBundle, own, new Date(), others);
      if (bundle === seen.caBundle) {
        this.#setState(TRUSTED);
        this.#settleLater(seen, own, signal);
        return;
      }
      try {
        await this.#correct(seen, bundle, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#setState(`does not trust the serving CA and cannot be changed: ${messageOf(error)}`);
        const level = this.#failures.isNews(messageOf(error)) ? 'warn' : 'debug';
        this.#options.log[level](
          { err: error, apiService: this.#name },
          'cannot set spec.caBundle, retrying',
        );
        await pause(this.#retries.next(), signal);
        // A newer object has arrived, and with it the next correction.
        if (this.#seen !== seen) return;
      }
    }
  }

  /** Certificates that stay permanently. */
  #permanent(): Others {
    return this.#options.sharedCA ? 'none' : 'sameName';
  }

  /**
   * Certificates that stay during a rollout. Some pods may serve with a self-signed CA and some with one from files, or with
   * the old and the new files: removing each other's CA would loop.
   */
  #transitional(seen: ApiService): Others {
    const byReplicas = seen.caBundleManagers.every((manager) => manager === FIELD_MANAGER);
    return byReplicas ? 'valid' : 'sameName';
  }

  #isManaged(seen: ApiService | undefined): seen is ApiService {
    if (seen === undefined) {
      this.#setState('does not exist: apply the manifests');
      return false;
    }
    if (seen.service === undefined) {
      this.#setState('has no Service, so it is not managed');
      return false;
    }
    if (seen.insecureSkipTLSVerify) {
      this.#setState('has insecureSkipTLSVerify, so it is not managed');
      return false;
    }
    return true;
  }

  async #correct(seen: ApiService, bundle: string, signal: AbortSignal): Promise<void> {
    await this.#waitWhenContested(seen, signal);
    const { client, log } = this.#options;
    const answer = await client.json({
      method: 'PATCH',
      path: `${API_SERVICES}/${this.#name}?fieldManager=${FIELD_MANAGER}&force=true`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify({
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        // With the uid, applying to a deleted APIService is a conflict instead of a creation.
        metadata: { name: this.#name, uid: seen.uid },
        spec: { caBundle: Buffer.from(bundle).toString('base64') },
      }),
      signal,
    });
    this.#retries.reset();
    this.#failures.end();
    this.#contested++;
    this.#lastCorrection = performance.now();
    log.info(
      { apiService: this.#name, before: seen.caBundle === '' ? 'empty' : 'another' },
      'set spec.caBundle',
    );
    const written = readApiService(answer);
    if (written && this.#seen === seen) this.#seen = written;
  }

  /** Backs off when another controller reverts the corrections, to prevent an endless loop. */
  async #waitWhenContested(seen: ApiService, signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#lastCorrection > QUIET_MS) {
      this.#contention.reset();
      this.#contested = 0;
    } else if (this.#contested >= CONTESTED_CORRECTIONS) {
      this.#options.log.warn(
        { apiService: this.#name, managers: seen.caBundleManagers },
        'another controller keeps changing spec.caBundle: stop it, or set registration.manageCABundle to false',
      );
      await pause(this.#contention.next(), signal);
    }
  }

  /** Schedules the removal of transitional certificates, once per change of our own CA. */
  #settleLater(seen: ApiService, own: string, signal: AbortSignal): void {
    const wanted = desiredBundle(seen.caBundle, own, new Date(), this.#permanent()) !== seen.caBundle;
    if (wanted && this.#settling?.own === own) return;
    clearTimeout(this.#settling?.timer);
    this.#settling = undefined;
    if (!wanted) return;
    const timer = setTimeout(() => {
      this.#settling = undefined;
      this.#work = this.#work.then(() => this.#reconcile(signal, true));
    }, this.#options.settleMs ?? SETTLE_MS);
    this.#settling = { own, timer };
  }

  #setState(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.log.info({ apiService: this.#name }, `the APIService ${state}`);
  }
}

/** A watch event may show the state before our last write. */
function isOlder(seen: ApiService | undefined, known: ApiService | undefined): boolean {
  if (seen?.uid !== known?.uid || !seen || !known) return false;
  return BigInt(seen.resourceVersion) < BigInt(known.resourceVersion);
}
