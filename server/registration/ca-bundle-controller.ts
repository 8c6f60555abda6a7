// Controller that keeps `spec.caBundle` of an APIService up to date. ca-bundle.ts computes the bundle.
import type { Logger } from 'pino';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { followObject } from '../cluster/reflector/followed-object.ts';
import { Backoff } from '../concurrency/backoff.ts';
import { pause } from '../concurrency/pause.ts';
import { RepeatedFailure } from '../observability/repeated-failure.ts';
import { type ApiService, desiredBundle, FIELD_MANAGER, OVERLAP_MS, readApiService } from './ca-bundle.ts';

/** The CA of the TLS listener. */
export interface ServingCA {
  /** PEM, one certificate or several. Undefined until it is loaded. */
  current(): string | undefined;
  /** Calls `listener` after each change. Returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

export interface ControllerOptions {
  readonly client: ClusterClient;
  readonly servingCA: ServingCA;
  readonly log: Logger;
  /** Time for which the CAs of other replicas stay in the bundle; an hour by default. */
  readonly overlapMs?: number;
  /** First delay after a failure; one second by default. */
  readonly retryMs?: number;
}

const TRUSTED = 'trusts the serving CA';
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
/** Number of consecutive corrections, each within QUIET_MS of the last, that indicates another controller. */
const CONTESTED_CORRECTIONS = 4;
const QUIET_MS = 120_000;

/**
 * Writes the serving CA to `spec.caBundle` of one APIService, and corrects later changes (level-triggered). It never creates or
 * deletes an APIService, and changes no other field.
 */
export class CaBundleController {
  readonly #name: string;
  readonly #options: ControllerOptions;
  /** Delays after failed requests. */
  readonly #retries: Backoff;
  /** Delays between corrections while another controller reverts them. */
  readonly #contention: Backoff;
  readonly #failures = new RepeatedFailure();
  #seen: ApiService | undefined;
  #state = 'has not been read yet';
  #work: Promise<void> = Promise.resolve();
  /** Removes the certificates of a rollout. */
  #overlap: NodeJS.Timeout | undefined;
  #lastCorrection = Number.NEGATIVE_INFINITY;
  /** Number of consecutive corrections, each within QUIET_MS of the last. */
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

  /** True if the last observed APIService contains the serving CA. */
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

  /** Runs until `signal` is aborted. Watches only this APIService, because the server has no permission for others. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, servingCA, log } = this.#options;
    let isListed = false;
    const take = (apiService: unknown, byList: boolean): void => {
      isListed = true;
      const seen = readApiService(apiService);
      // The object of a list is always current, even with a lower resourceVersion after an etcd restore.
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
      clearTimeout(this.#overlap);
      await this.#work;
    }
  }

  /** Queues a correction. It runs after the previous one, with the state at its start. */
  #enqueue(signal: AbortSignal): void {
    this.#work = this.#work.then(() => this.#reconcile(signal));
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const { servingCA, overlapMs = OVERLAP_MS } = this.#options;
    while (!signal.aborted) {
      const seen = this.#seen;
      if (!this.#isManaged(seen)) return;
      const own = servingCA.current();
      if (own === undefined) return this.#setState('waits for the serving CA');
      const bundle = desiredBundle(seen, own, new Date(), overlapMs);
      if (bundle === seen.caBundle) {
        this.#setState(TRUSTED);
        clearTimeout(this.#overlap);
        if (bundle !== own) this.#overlap = setTimeout(() => this.#enqueue(signal), overlapMs);
        return;
      }
      try {
        await this.#correct(seen, bundle, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#setState('does not trust the serving CA and cannot be changed: see the log');
        const level = this.#failures.isNews(messageOf(error)) ? 'warn' : 'debug';
        this.#options.log[level](
          { err: error, apiService: this.#name },
          'cannot set spec.caBundle, retrying',
        );
        await pause(this.#retries.next(), signal);
        // A newer object has arrived, which has queued its own correction.
        if (this.#seen !== seen) return;
      }
    }
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
        // The uid prevents that server-side apply creates a deleted APIService again: the request fails with 409.
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

  /** Waits if another controller keeps reverting the corrections. */
  async #waitWhenContested(seen: ApiService, signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#lastCorrection > QUIET_MS) {
      this.#contention.reset();
      this.#contested = 0;
    } else if (this.#contested >= CONTESTED_CORRECTIONS) {
      this.#options.log.warn(
        { apiService: this.#name, managers: seen.caBundleManagers.map(({ manager }) => manager) },
        'another controller keeps changing spec.caBundle: stop it, or set registration.manageCABundle to false',
      );
      await pause(this.#contention.next(), signal);
    }
  }

  #setState(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.log.info({ apiService: this.#name }, `the APIService ${state}`);
  }
}

/** A watch event may contain the state before our last write. */
function isOlder(seen: ApiService | undefined, known: ApiService | undefined): boolean {
  if (seen?.uid !== known?.uid || !seen || !known) return false;
  return BigInt(seen.resourceVersion) < BigInt(known.resourceVersion);
}
