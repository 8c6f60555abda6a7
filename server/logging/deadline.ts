import type { Call } from './log-store.ts';

/** When the time of a call is over, for work that takes several requests: each has what is left. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #end: number;
  readonly #caller: Pick<Call, 'caller'>;
  readonly #now: () => number;

  /** `now`: milliseconds, since whenever. */
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

  /** Of a request that begins now. */
  call(): Call {
    return { signal: this.signal, timeoutMs: this.leftMs, ...this.#caller };
  }

  /** A part of what is left. */
  share(part: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.max(1, this.leftMs * part) }, this.#now);
  }

  /** The same, or sooner. */
  within(ms: number): Deadline {
    return new Deadline({ ...this.call(), timeoutMs: Math.min(ms, this.leftMs) }, this.#now);
  }

  /** The same, ended by another signal too. */
  until(signal: AbortSignal): Deadline {
    return this.under(AbortSignal.any([this.signal, signal]));
  }

  /** The same, with a signal that is aborted with its own, or before. */
  under(signal: AbortSignal): Deadline {
    return new Deadline({ ...this.call(), signal }, this.#now);
  }
}
