import type { LogPage, PageRequest } from '../../log-store.ts';
import { BestLines } from './best-lines.ts';
import type { LineFilter } from './line-filter.ts';
import { readPosition, writePosition } from './line-position.ts';
import type { LogSource } from './log-source.ts';
import { compareLines, recordOf } from './ranked-line.ts';
import type { Tally } from './survey.ts';

/** Gathers one page out of all lines, and how many there are. */
export class PageBuilder {
  readonly #sources: readonly LogSource[];
  readonly #request: PageRequest;
  readonly #memory: number;
  readonly #best: BestLines;
  readonly #beyond: (time: string, rank: number, ordinal: number) => boolean;
  #total = 0;
  /** Lines behind the position that the page begins at. */
  #behind = 0;

  constructor(sources: readonly LogSource[], request: PageRequest, memory: number) {
    this.#sources = sources;
    this.#request = request;
    this.#memory = memory;
    this.#best = this.#newBest();
    const { after, order } = request;
    const position = after === undefined ? undefined : readPosition(after, sources);
    const sign = order === 'asc' ? 1 : -1;
    this.#beyond = position
      ? (time, rank, ordinal) => sign * compareLines({ time, rank, ordinal }, position) > 0
      : () => true;
  }

  tally(rank: number, wanted: (time: string, text: string) => boolean): Tally {
    const best = this.#newBest();
    let [total, behind] = [0, 0];
    return {
      onLine: (time, text, ordinal) => {
        if (!wanted(time, text)) return;
        total++;
        if (!this.#beyond(time, rank, ordinal)) return;
        behind++;
        best.offer(time, rank, ordinal, text);
      },
      done: () => {
        this.#total += total;
        this.#behind += behind;
        this.#best.merge(best);
      },
    };
  }

  /** Whether the page is shorter than it was asked for, for want of memory. */
  get cut(): boolean {
    return this.#best.overflowed && this.#best.sorted().length < this.#request.from + this.#request.size;
  }

  page(): Pick<LogPage, 'records' | 'next'> & { readonly count: number } {
    const { from } = this.#request;
    const lines = this.#best.sorted();
    const last = lines.at(-1);
    const more = lines.length > from && this.#behind > lines.length;
    return {
      count: this.#total,
      records: lines.slice(from).map((line) => recordOf(line, this.#sources)),
      next: more && last ? writePosition(last, this.#sources) : undefined,
    };
  }

  #newBest(): BestLines {
    const { order, from, size } = this.#request;
    return new BestLines({ order, limit: size === 0 ? 0 : from + size, memory: this.#memory });
  }
}

/** Whether a line lies in the range and says what was asked for. */
export function wantedBetween(
  begin: string,
  end: string,
  filter: LineFilter,
): (time: string, text: string) => boolean {
  return (time, text) => time >= begin && time < end && filter(text);
}
