import type { Call } from './log-store.ts';

/** The deadline of a call that takes several requests: each request has the time that is left. */
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

  /** The limits of a request that begins now. */
  call(): Call {
    return { signal: this.signal, timeoutMs: this.leftMs, ...this.#caller };
  }

  /** `part`: share of the time that is left. */
  share(part: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.max(1, this.leftMs * part) }, this.#now);
  }

  within(ms: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.min(ms, this.leftMs) }, this.#now);
  }

  /** Also ended by `signal`. */
  until(signal: AbortSignal): Deadline {
    const either = AbortSignal.any([this.signal, signal]);
    return new Deadline({ ...this.call(), signal: either }, this.#now);
  }
}
