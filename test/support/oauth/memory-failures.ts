// Failed attempts that the test replicas of a process share in memory.
import { type Delays, delaysByKey, type ThrottleLimits } from '../../../server/oauth/throttle/delays.ts';
import { LoginThrottle } from '../../../server/oauth/throttle/login-throttle.ts';
import type { FailureChange, FailureRecord } from '../../../server/oauth/throttle/shared-failures.ts';

export class MemoryFailures {
  readonly delaysOf: (key: string) => Delays;
  readonly #records = new Map<string, FailureRecord>();

  constructor(limits: ThrottleLimits, now: () => number) {
    this.delaysOf = delaysByKey(limits, now);
  }

  get(key: string): FailureRecord {
    return this.#records.get(key) ?? { failures: 0, lastAt: 0, known: {} };
  }

  keys(prefix: string): readonly string[] {
    return [...this.#records.keys()].filter((key) => key.startsWith(prefix));
  }

  keep(key: string, change: FailureChange): void {
    this.#records.set(key, change(this.get(key)));
  }

  async change(key: string, change: FailureChange): Promise<void> {
    this.keep(key, change);
  }
}

/** A throttle with failures in memory, for users without sessions. */
export function memoryThrottle(limits: ThrottleLimits, now: () => number): LoginThrottle {
  return new LoginThrottle({
    failures: new MemoryFailures(limits, now),
    keys: { mac: (purpose, value) => `${purpose} ${value}` },
    sessions: { ofUser: () => [] },
    now,
  });
}
