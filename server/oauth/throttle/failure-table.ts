// Table of failed attempts by key, such as an account or an address. Failures delay further attempts of their key, each one twice as
// long as the one before. The table is bounded, and a flood of new keys ends no delay.
import { hash } from 'node:crypto';

/** Limits of failed attempts: when delays begin, and how they grow. Times in ms. */
export interface DelayLimits {
  /** Failures before the first delay. */
  readonly failures: number;
  /** The first delay; each further failure doubles it. */
  readonly delay: number;
  readonly maxDelay: number;
  /** Time without a failure after which all failures expire. */
  readonly reset: number;
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
  readonly #capacity: number;
  /** Keys with too few failures for a delay; the oldest last failure first. */
  readonly #quiet = new Map<string, Failures>();
  /** Keys with delays, in the same order. */
  readonly #delaying = new Map<string, Failures>();
  /** The most failures of an evicted key, by group. */
  readonly #groups = new Map<number, Failures>();
  /** Attempts whose outcome is unknown. They count as failures, so parallel attempts allow no more guesses than sequential ones. */
  readonly #pending = new Map<string, number>();

  constructor(limits: DelayLimits, capacity: number) {
    this.#limits = limits;
    this.#capacity = capacity;
  }

  /** Number of keys with failures, without those whose failures have expired. */
  count(now: number): number {
    for (const keys of [this.#quiet, this.#delaying]) {
      for (const [key, { lastAt }] of keys) {
        if (now - lastAt <= this.#limits.reset) break;
        keys.delete(key);
      }
    }
    return this.#quiet.size + this.#delaying.size;
  }

  of(key: string, now: number): Failures {
    const found = this.#quiet.get(key) ?? this.#delaying.get(key) ?? this.#groups.get(groupOf(key));
    return found && now - found.lastAt <= this.#limits.reset ? found : NONE;
  }

  /** Ms until an attempt may begin; 0 when it may begin now. */
  wait(key: string, now: number): number {
    const { failures, lastAt } = this.#past(key, now);
    const pending = this.#pending.get(key) ?? 0;
    const excess = failures + pending - this.#limits.failures;
    if (excess < 0) return 0;
    const delay = Math.min(this.#limits.maxDelay, this.#limits.delay * 2 ** Math.min(excess, 40));
    return pending > 0 ? delay : Math.max(0, lastAt + delay - now);
  }

  isDelaying(key: string, now: number): boolean {
    return this.of(key, now).failures >= this.#limits.failures;
  }

  begin(key: string): void {
    this.#pending.set(key, (this.#pending.get(key) ?? 0) + 1);
  }

  end(key: string): void {
    const others = (this.#pending.get(key) ?? 0) - 1;
    if (others > 0) this.#pending.set(key, others);
    else this.#pending.delete(key);
  }

  fail(key: string, now: number): void {
    this.#set(key, { failures: this.of(key, now).failures + 1, lastAt: now });
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
  merge(key: string, { failures, lastAt }: Failures, now: number): void {
    const known = this.of(key, now);
    if (failures > 0) this.#set(key, highest(known, { failures, lastAt: Math.min(lastAt, now) }));
    else if (lastAt >= known.lastAt) this.clear(key);
  }

  /** A last failure in the future becomes one of now, because the clock was set back. */
  #past(key: string, now: number): Failures {
    const found = this.of(key, now);
    if (found.lastAt <= now) return found;
    const past = { ...found, lastAt: now };
    this.#set(key, past);
    return past;
  }

  #set(key: string, failures: Failures): void {
    this.clear(key);
    (failures.failures < this.#limits.failures ? this.#quiet : this.#delaying).set(key, failures);
    if (this.#quiet.size + this.#delaying.size <= this.#capacity) return;
    if (this.count(failures.lastAt) <= this.#capacity) return;
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
