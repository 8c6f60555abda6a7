// Table of failed attempts by key, such as an account or an address. Failures delay further attempts of their key, each one twice as
// long as the one before. The table is bounded, and a flood of new keys ends no delay.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { networkOf } from '../../admission/network.ts';
import type { SourceAddress } from '../../request/source-address.ts';

/** Limits of failed attempts: when delays begin, and how they grow. Times in ms. */
export interface DelayLimits {
  /** Failures before the first delay. */
  readonly failures: number;
  /** The first delay; each further failure doubles it. */
  readonly delay: number;
  readonly maxDelay: number;
  /** Time without a failure after which all failures expire. */
  readonly reset: number;
  /** Maximum number of keys. */
  readonly entries: number;
}

/** Failures of a key, and the time of the last one in ms. */
export interface Failures {
  readonly failures: number;
  readonly lastAt: number;
}

const NONE: Failures = { failures: 0, lastAt: 0 };
/** Enough that two attacked keys rarely share a group. */
const GROUPS = 1024;

/**
 * A full table evicts the oldest key, one without a delay first. The failures of evicted keys are counted by group: unrelated keys may be
 * delayed together, but every failure counts.
 */
export class FailureTable {
  readonly #limits: DelayLimits;
  readonly #now: () => number;
  /** Keys with too few failures for a delay; the oldest last failure first. */
  readonly #quiet = new Map<string, Failures>();
  /** Keys with delays, in the same order. */
  readonly #delaying = new Map<string, Failures>();
  /** The most failures of an evicted key, by group. */
  readonly #groups = new Map<number, Failures>();
  /** Attempts whose outcome is unknown. They count as failures, so parallel attempts allow no more guesses than sequential ones. */
  readonly #pending = new Map<string, number>();

  /** `now`: ms. */
  constructor(limits: DelayLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Number of keys with failures that have not expired. */
  get size(): number {
    for (const keys of [this.#quiet, this.#delaying]) {
      for (const [key, failures] of keys) {
        if (!this.isExpired(failures)) break;
        keys.delete(key);
      }
    }
    return this.#quiet.size + this.#delaying.size;
  }

  isExpired({ lastAt }: Failures): boolean {
    return this.#now() - lastAt > this.#limits.reset;
  }

  of(key: string): Failures {
    const found = this.#quiet.get(key) ?? this.#delaying.get(key) ?? this.#groups.get(groupOf(key));
    return found && !this.isExpired(found) ? found : NONE;
  }

  /** Ms until an attempt may begin; 0 when it may begin now. */
  wait(key: string): number {
    const { failures, lastAt } = this.of(key);
    const now = this.#now();
    // The clock was set back: the last failure becomes one of now.
    if (lastAt > now) this.#set(key, { failures, lastAt: now });
    const pending = this.#pending.get(key) ?? 0;
    const excess = failures + pending - this.#limits.failures;
    if (excess < 0) return 0;
    const delay = Math.min(this.#limits.maxDelay, this.#limits.delay * 2 ** Math.min(excess, 40));
    return pending > 0 ? delay : Math.max(0, Math.min(lastAt, now) + delay - now);
  }

  isDelaying(key: string): boolean {
    return this.of(key).failures >= this.#limits.failures;
  }

  begin(key: string): void {
    this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
  }

  end(key: string): void {
    const others = (this.#pending.get(key) ?? 0) - 1;
    if (others > 0) this.#pending.set(key, others);
    else this.#pending.delete(key);
  }

  fail(key: string): void {
    this.#set(key, { failures: this.of(key).failures + 1, lastAt: this.#now() });
  }

  /** The keys with failures that begin with `prefix`. */
  keys(prefix: string): readonly string[] {
    return [...this.#quiet.keys(), ...this.#delaying.keys()].filter((key) => key.startsWith(prefix));
  }

  /** Removes the failures of a key. */
  clear(key: string): void {
    this.#quiet.delete(key);
    this.#delaying.delete(key);
  }

  /** Removes all failures. */
  clearAll(): void {
    for (const keys of [this.#quiet, this.#delaying, this.#groups]) keys.clear();
  }

  /** Merges failures that another process counted: the higher values win. Zero failures remove those up to `lastAt`. */
  merge(key: string, { failures, lastAt }: Failures): void {
    const known = this.of(key);
    if (failures > 0) this.#set(key, highest(known, { failures, lastAt: Math.min(lastAt, this.#now()) }));
    else if (lastAt >= known.lastAt) this.clear(key);
  }

  #set(key: string, failures: Failures): void {
    this.clear(key);
    (failures.failures < this.#limits.failures ? this.#quiet : this.#delaying).set(key, failures);
    const { entries } = this.#limits;
    if (this.#quiet.size + this.#delaying.size <= entries || this.size <= entries) return;
    const [oldest] = this.#quiet.size > 0 ? this.#quiet : this.#delaying;
    if (!oldest) return;
    const [evicted, its] = oldest;
    this.clear(evicted);
    const group = groupOf(evicted);
    this.#groups.set(group, highest(this.#groups.get(group) ?? NONE, its));
  }
}

function highest(one: Failures, other: Failures): Failures {
  return {
    failures: Math.max(one.failures, other.failures),
    lastAt: Math.max(one.lastAt, other.lastAt),
  };
}

function groupOf(key: string): number {
  return hash('sha256', key, 'buffer').readUInt16BE(0) % GROUPS;
}

/**
 * Throttle of guesses at secrets that resist the attempts at all replicas together, such as client secrets. It counts failures per source
 * and at this replica only, so an attacker delays only its own address.
 */
export class SourceThrottle {
  readonly #table: FailureTable;
  readonly #sourceOf: SourceAddress;

  /** `now`: monotonic ms. */
  constructor(limits: DelayLimits, sourceOf: SourceAddress, now: () => number) {
    this.#table = new FailureTable(limits, now);
    this.#sourceOf = sourceOf;
  }

  /** Whole seconds until the next allowed attempt; 0 when it is allowed now. `about`: the subject of the guess, for instance a client id. */
  wait(request: IncomingMessage, about = ''): number {
    return Math.ceil(this.#table.wait(this.#key(request, about)) / 1000);
  }

  succeeded(request: IncomingMessage, about = ''): void {
    this.#table.clear(this.#key(request, about));
  }

  failed(request: IncomingMessage, about = ''): void {
    this.#table.fail(this.#key(request, about));
  }

  /** A digest, because `about` is client input of any length. */
  #key(request: IncomingMessage, about: string): string {
    return hash('sha256', `${networkOf(this.#sourceOf(request))} ${about}`, 'base64');
  }
}
