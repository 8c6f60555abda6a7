import type { Logger } from 'pino';
import { messageOf } from '../../apis/reading/thrown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { followObject } from '../cluster/reflector/followed-object.ts';
import { Backoff } from '../concurrency/backoff.ts';
import { pause } from '../concurrency/pause.ts';
import { RepeatedFailure } from '../observability/repeated-failure.ts';
import { type ApiService, readApiService } from './api-service.ts';
import { desiredBundle, type Others } from './ca-bundle.ts';
import type { ServingCA } from './serving-ca.ts';

/** Owner of `spec.caBundle`, and of nothing else, in the APIService's managedFields. */
export const FIELD_MANAGER = 'ks-apiserver-ca-bundle';

export interface ControllerOptions {
  readonly client: ClusterClient;
  readonly servingCA: ServingCA;
  /**
   * Whether other replicas serve under the same CA (certificate files), and every other one may go once they have had
   * the time to follow. Otherwise each made its own, and all that bear its name stay in the bundle.
   */
  readonly sharedCA: boolean;
  readonly log: Logger;
  /** Until a CA that a replica served under leaves the bundle; ten minutes when none is given. */
  readonly settleMs?: number;
  /** The first pause after a failure; one second when none is given. */
  readonly retryMs?: number;
}

const TRUSTED = 'trusts our serving CA';
const SETTLE_MS = 600_000;
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
/** After so many corrections somebody else insists. */
const SUSPICIOUS = 4;
const QUIET_MS = 120_000;

/**
 * Keeps `spec.caBundle` of one APIService so that kube-apiserver trusts this server. Level-triggered: whatever caused a
 * difference, the next look at the object repairs it. It never creates, deletes or changes anything else.
 */
export class CaBundleController {
  readonly #name: string;
  readonly #options: ControllerOptions;
  /** Between attempts that fail. */
  readonly #retries: Backoff;
  /** Between corrections that somebody else undoes. */
  readonly #insistence: Backoff;
  readonly #failures = new RepeatedFailure();
  #seen: ApiService | undefined;
  #state = 'has not been read yet';
  #work: Promise<void> = Promise.resolve();
  #settling: { readonly own: string; readonly timer: NodeJS.Timeout } | undefined;
  #lastCorrection = Number.NEGATIVE_INFINITY;
  /** Corrections without two quiet minutes between them. */
  #insisting = 0;

  constructor(name: string, options: ControllerOptions) {
    this.#name = name;
    this.#options = options;
    const pauses = {
      initialMs: options.retryMs ?? RETRY_MS,
      maxMs: LONGEST_RETRY_MS,
      random: Math.random,
    };
    this.#retries = new Backoff(pauses);
    this.#insistence = new Backoff(pauses);
  }

  /** Whether the APIService holds our CA, as far as we know. */
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

  /** Resolves when `signal` is aborted. Only this name is asked for: the server has no right to see the others. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, servingCA, log } = this.#options;
    let isListed = false;
    const take = (apiService: unknown, byList: boolean): void => {
      isListed = true;
      const seen = readApiService(apiService);
      // What a list says counts in any case: in a cluster that was restored from a backup all versions are older.
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

  /** One correction at a time, each with what is known when it begins. */
  #enqueue(signal: AbortSignal): void {
    this.#work = this.#work.then(() => this.#reconcile(signal));
  }

  async #reconcile(signal: AbortSignal, settled = false): Promise<void> {
    while (!signal.aborted) {
      const seen = this.#seen;
      if (!this.#mayCorrect(seen)) return;
      const own = this.#options.servingCA.current();
      const others = settled ? this.#lasting() : this.#passing(seen);
      const bundle = desiredBundle(seen.caBundle, own, new Date(), others);
      if (bundle === seen.caBundle) {
        this.#become(TRUSTED);
        this.#settleLater(seen, own, signal);
        return;
      }
      try {
        await this.#correct(seen, bundle, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#become(`does not trust our serving CA and cannot be changed: ${messageOf(error)}`);
        const level = this.#failures.isNews(messageOf(error)) ? 'warn' : 'debug';
        this.#options.log[level](
          { err: error, apiService: this.#name },
          'cannot set spec.caBundle; trying again',
        );
        await pause(this.#retries.next(), signal);
        // Deleted or recreated: the stream will bring the next object, and with it the next correction.
        if (this.#seen !== seen) return;
      }
    }
  }

  /** What stays for good. */
  #lasting(): Others {
    return this.#options.sharedCA ? 'none' : 'sameName';
  }

  /**
   * What stays for now. While Pods are replaced some may serve under a self-made CA and some under one from files, or
   * under the former and the new one of the files: if each took out what is not its own, they would do so in turns.
   */
  #passing(seen: ApiService): Others {
    const byReplicas = seen.caBundleManagers.every((manager) => manager === FIELD_MANAGER);
    return byReplicas ? 'valid' : 'sameName';
  }

  #mayCorrect(seen: ApiService | undefined): seen is ApiService {
    if (seen === undefined) {
      this.#become('is missing: apply the manifests');
      return false;
    }
    if (seen.service === undefined) {
      this.#become('names no Service, so it is left alone');
      return false;
    }
    if (seen.insecureSkipTLSVerify) {
      this.#become('has insecureSkipTLSVerify, so it is left alone');
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
        // With the uid, applying cannot bring a deleted APIService back to life: that is a conflict.
        metadata: { name: this.#name, uid: seen.uid },
        spec: { caBundle: Buffer.from(bundle).toString('base64') },
      }),
      signal,
    });
    this.#retries.reset();
    this.#failures.end();
    this.#insisting++;
    this.#lastCorrection = performance.now();
    log.info(
      { apiService: this.#name, before: seen.caBundle === '' ? 'empty' : 'another' },
      'set spec.caBundle',
    );
    const written = readApiService(answer);
    if (written && this.#seen === seen) this.#seen = written;
  }

  /** Two controllers that disagree would both loop without rest; ours slows down and says so. */
  async #waitWhenContested(seen: ApiService, signal: AbortSignal): Promise<void> {
    if (performance.now() - this.#lastCorrection > QUIET_MS) {
      this.#insistence.reset();
      this.#insisting = 0;
    } else if (this.#insisting >= SUSPICIOUS) {
      this.#options.log.warn(
        { apiService: this.#name, managers: seen.caBundleManagers },
        'somebody else keeps changing spec.caBundle: stop them, or set registration.manageCABundle to false',
      );
      await pause(this.#insistence.next(), signal);
    }
  }

  /** What does not stay for good leaves some time after our last change, however often the object changes meanwhile. */
  #settleLater(seen: ApiService, own: string, signal: AbortSignal): void {
    const wanted = desiredBundle(seen.caBundle, own, new Date(), this.#lasting()) !== seen.caBundle;
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

  #become(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.log.info({ apiService: this.#name }, `the APIService ${state}`);
  }
}

/** An event that was under way while we wrote shows the state before the write. */
function isOlder(seen: ApiService | undefined, known: ApiService | undefined): boolean {
  if (seen?.uid !== known?.uid || !seen || !known) return false;
  return BigInt(seen.resourceVersion) < BigInt(known.resourceVersion);
}
