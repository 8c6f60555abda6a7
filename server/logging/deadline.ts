import type { Call } from './log-store.ts';

/** Deadline of a call that needs several requests to the store. Each request gets the time that is left. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #end: number;
  readonly #caller: Pick<Call, 'caller'>;
  readonly #now: () => number;

  /** `now`: monotonic milliseconds. */
  constructor({ signal, timeoutMs, ...caller }: Call, now: () => number) {
    this.signal = signal;
    this.#caller = caller;
    this.#now = now;
    this.#end = now() + timeoutMs;
  }

  get leftMs(): number {
    return Math.max(1, Math.floor(this.#end - this.#now()));
  }

  get isOver(): boolean {
    return this.#now() >= this.#end;
  }

  /** Limits of a request that starts now. */
  call(): Call {
    return { signal: this.signal, timeoutMs: this.leftMs, ...this.#caller };
  }

  /** An earlier deadline. `part`: share of the time that is left, from 0 to 1. */
  share(part: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.max(1, this.leftMs * part) }, this.#now);
  }

  /** An earlier deadline, at most `ms` from now. */
  within(ms: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.min(ms, this.leftMs) }, this.#now);
  }

  /** The same deadline, also aborted by `signal`. */
  until(signal: AbortSignal): Deadline {
    const either = AbortSignal.any([this.signal, signal]);
    return new Deadline({ ...this.call(), signal: either }, this.#now);
  }
}
