import type { Call } from '../../../log-store.ts';

/** The time that a call has. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #end: number;
  readonly #now: () => number;

  constructor({ signal, timeoutMs }: Call, now: () => number) {
    this.signal = signal;
    this.#now = now;
    this.#end = now() + timeoutMs;
  }

  get leftMs(): number {
    return Math.max(1, Math.floor(this.#end - this.#now()));
  }

  get isOver(): boolean {
    return this.#now() >= this.#end;
  }

  /** A part of what is left. */
  share(part: number): Deadline {
    return new Deadline({ signal: this.signal, timeoutMs: Math.max(1, this.leftMs * part) }, this.#now);
  }

  /** The same, or sooner. */
  within(ms: number): Deadline {
    return new Deadline({ signal: this.signal, timeoutMs: Math.min(ms, this.leftMs) }, this.#now);
  }

  /** The same, ended by another signal too. */
  until(signal: AbortSignal): Deadline {
    const either = AbortSignal.any([this.signal, signal]);
    return new Deadline({ signal: either, timeoutMs: this.leftMs }, this.#now);
  }
}
