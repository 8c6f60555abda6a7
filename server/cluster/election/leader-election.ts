// Elects a leader among the replicas with a Lease of `coordination.k8s.io`, as in client-go. At most one replica is
// the leader.
import type { Logger } from 'pino';
import { isNotFound, StatusError } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import { pause } from '../../concurrency/pause.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ClusterClient } from '../connection/client.ts';
import { isHeldByAnother, type LeaseRecord, leaseObject, readLease } from './lease-record.ts';

/**
 * Durations in ms. The leader stops `renewMs` after its last renewal. Other replicas can take over after `leaseMs`,
 * which is longer, so there are never two leaders.
 */
interface LeaseTiming {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

interface LeaderElectionOptions {
  readonly client: Pick<ClusterClient, 'json'>;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this replica. */
  readonly identity: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  readonly timing?: LeaseTiming;
  /** Clock for the times in the Lease, in ms since the epoch. These times are informational. */
  readonly now?: () => number;
  /** Monotonic clock in ms. It alone determines expiry, because the clocks of replicas differ. */
  readonly monotonic?: () => number;
}

const DEFAULT_TIMING: LeaseTiming = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #timing: LeaseTiming;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  /** The last record, and the time at which this replica first read it. */
  #seen: { readonly record: LeaseRecord; readonly at: number } | undefined;
  #leading = false;
  readonly #rejections: RepeatedFailure;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#timing = options.timing ?? DEFAULT_TIMING;
    this.#now = options.now ?? Date.now;
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#rejections = new RepeatedFailure(this.#monotonic);
  }

  get leading(): boolean {
    return this.#leading;
  }

  /**
   * Runs `lead` while this replica is the leader, until `signal` is aborted; never throws. The signal of `lead` is
   * aborted when the Lease is lost. The next election waits until `lead` has returned.
   */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { log, identity } = this.#options;
    while (!signal.aborted) {
      if (await this.#tryHold(signal)) {
        log.info({ identity, lease: this.#options.name }, 'became leader');
        await this.#term(signal, lead);
        log.info({ identity, lease: this.#options.name }, 'stopped leading');
      } else {
        await pause(this.#timing.retryMs, signal);
      }
    }
  }

  async #term(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const term = new AbortController();
    const end = (): void => term.abort(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    this.#leading = true;
    const work = lead(term.signal)
      .catch((err: unknown) => {
        if (!term.signal.aborted) this.#options.log.warn({ err }, 'the work of the leader failed');
      })
      // When the work has ended, another replica becomes the leader.
      .finally(() => term.abort(new Error('the work has ended')));
    try {
      await this.#renewUntilLost(term.signal);
    } finally {
      this.#leading = false;
      term.abort(new Error('the Lease was lost'));
      signal.removeEventListener('abort', end);
      await work;
    }
    await this.#release();
    if (!signal.aborted) await pause(this.#timing.retryMs, signal);
  }

  async #renewUntilLost(signal: AbortSignal): Promise<void> {
    let renewed = this.#monotonic();
    while (!signal.aborted) {
      await pause(this.#timing.retryMs, signal);
      const began = this.#monotonic();
      const leftMs = Math.ceil(Math.max(1, renewed + this.#timing.renewMs - began));
      using bounded = boundedSignal(signal, leftMs);
      if (await this.#tryHold(bounded.signal)) renewed = began;
      else if (this.#monotonic() - renewed >= this.#timing.renewMs || this.#isHeldElsewhere()) return;
    }
  }

  /** Creates, acquires or renews the Lease. Returns false if another replica holds it, or if the request failed. */
  async #tryHold(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const { client, identity } = this.#options;
    try {
      const found = await this.#get(signal);
      if (found) this.#observe(found);
      if (found && this.#isHeldElsewhere()) {
        this.#rejections.end();
        return false;
      }
      const now = this.#now();
      const isNew = found?.holder !== identity;
      const next = leaseObject(this.#options, {
        resourceVersion: found?.resourceVersion ?? '',
        holder: identity,
        durationMs: this.#timing.leaseMs,
        acquiredAt: isNew ? now : found.acquiredAt,
        renewedAt: now,
        transitions: found ? found.transitions + (isNew ? 1 : 0) : 0,
      });
      const written = await client.json({
        method: found ? 'PUT' : 'POST',
        path: found ? this.#path : this.#collection,
        json: next,
        signal,
      });
      this.#observe(readLease(written));
      this.#rejections.end();
      return true;
    } catch (err) {
      if (!signal.aborted) this.#logFailure(err);
      return false;
    }
  }

  /**
   * Logs a failed request. Conflicts are not logged, and outages at debug level, because other components log them. A
   * missing permission or namespace does not end by itself and has no other log entry, so it is a warning.
   */
  #logFailure(err: unknown): void {
    const { log, name: lease, namespace } = this.#options;
    const code = err instanceof StatusError ? err.code : 500;
    if (code === 409) return;
    if (code === 429 || code >= 500 || !this.#rejections.isNews(messageOf(err))) {
      log.debug({ err }, 'the Lease could not be acquired');
      return;
    }
    log.warn(
      { err, lease, namespace },
      'the Lease was rejected: work of the leader, such as the rotation of signing keys, does not run',
    );
  }

  /** Releases the Lease, so that another replica can lead without waiting for its expiry. */
  async #release(): Promise<void> {
    const { client, identity, log } = this.#options;
    const signal = AbortSignal.timeout(2_000);
    try {
      const found = await this.#get(signal);
      if (found?.holder !== identity) return;
      const released = { ...found, holder: '', durationMs: 1_000, renewedAt: this.#now() };
      await client.json({
        method: 'PUT',
        path: this.#path,
        json: leaseObject(this.#options, released),
        signal,
      });
      this.#seen = undefined;
    } catch (err) {
      log.debug({ err }, 'the Lease could not be released and will expire');
    }
  }

  async #get(signal: AbortSignal): Promise<LeaseRecord | undefined> {
    try {
      return readLease(await this.#options.client.json({ path: this.#path, signal }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #observe(record: LeaseRecord): void {
    if (this.#seen?.record.resourceVersion === record.resourceVersion) return;
    this.#seen = { record, at: this.#monotonic() };
  }

  #isHeldElsewhere(): boolean {
    const { identity } = this.#options;
    return (
      this.#seen !== undefined &&
      isHeldByAnother(this.#seen.record, identity, this.#monotonic() - this.#seen.at)
    );
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#options.namespace}/leases`;
  }

  get #path(): string {
    return `${this.#collection}/${this.#options.name}`;
  }
}
