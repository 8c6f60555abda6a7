// Finds out whether there is anything new in indices: counting their lines costs a store next to nothing, and is done once
// for all who follow the same indices. They ask for lines only when the count has changed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../../../log-store.ts';
import type { Searches } from '../searches/searches.ts';
import { restAfter } from './pace.ts';

export interface LineCountPollerOptions {
  readonly searches: Searches;
  /** Between two questions, in ms; longer where the store is slow. */
  readonly everyMs: number;
  /** A monotonic clock in ms. */
  readonly now: () => number;
}

const ASK_MS = 5_000;
/** How many times longer it pauses when the store gave no count. */
const FAILED = 5;
/** Followers that were woken ask for lines, and come back in the meantime. */
const IDLE_POLLS = 10;

/** The lines in the indices; undefined when the store gave no count, or not of all shards. */
export type LineCount = number | undefined;

interface Waiting {
  readonly known: LineCount;
  readonly wake: (count: LineCount) => void;
}

/** Of one set of indices, for all who wait. */
interface Poll {
  readonly waiting: Set<Waiting>;
  readonly over: AbortController;
  last: LineCount;
}

export class LineCountPoller {
  readonly #options: LineCountPollerOptions;
  readonly #polls = new Map<string, Poll>();

  constructor(options: LineCountPollerOptions) {
    this.#options = options;
  }

  /** Resolves with the first count that differs from `known`, and with `known` after `atMostMs`. Never rejects. */
  next(
    indices: string,
    known: LineCount,
    { signal, atMostMs }: { readonly signal: AbortSignal; readonly atMostMs: number },
  ): Promise<LineCount> {
    if (signal.aborted) return Promise.resolve(known);
    const poll = this.#pollOf(indices);
    if (poll.last !== undefined && poll.last !== known) return Promise.resolve(poll.last);
    return new Promise((resolve) => {
      const wake = (count: LineCount): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        poll.waiting.delete(waiting);
        resolve(count);
      };
      const leave = (): void => {
        wake(known);
        if (poll.waiting.size === 0) this.#end(indices, poll);
      };
      const waiting: Waiting = { known, wake };
      const timer = setTimeout(() => wake(known), atMostMs);
      signal.addEventListener('abort', leave, { once: true });
      poll.waiting.add(waiting);
    });
  }

  #pollOf(indices: string): Poll {
    const known = this.#polls.get(indices);
    if (known) return known;
    const poll: Poll = { waiting: new Set(), over: new AbortController(), last: undefined };
    this.#polls.set(indices, poll);
    void this.#run(indices, poll);
    return poll;
  }

  /** Until nobody has waited for a while. */
  async #run(indices: string, poll: Poll): Promise<void> {
    const { everyMs, now } = this.#options;
    const { signal } = poll.over;
    for (let idle = 0; idle < IDLE_POLLS && !signal.aborted; idle = poll.waiting.size > 0 ? 0 : idle + 1) {
      const began = now();
      poll.last = await this.#count(indices, { signal, timeoutMs: ASK_MS });
      for (const { known, wake } of [...poll.waiting]) {
        if (poll.last === undefined || poll.last !== known) wake(poll.last);
      }
      const rest = poll.last === undefined ? everyMs * FAILED : everyMs;
      const ms = Math.max(rest, restAfter(now() - began));
      // This timer alone must not keep the process alive, since it goes on for a while without followers.
      await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#end(indices, poll);
  }

  #end(indices: string, poll: Poll): void {
    if (this.#polls.get(indices) === poll) this.#polls.delete(indices);
    poll.over.abort();
  }

  async #count(indices: string, call: Call): Promise<LineCount> {
    try {
      const body = { size: 0, track_total_hits: true };
      const { total, shortfalls } = await this.#options.searches.searchIndices(indices, body, call);
      return shortfalls.length === 0 ? total.count : undefined;
    } catch {
      return undefined;
    }
  }
}
