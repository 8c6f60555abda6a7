import { earlier, later, millisecondsOf } from '../../../instant.ts';
import type { Instant, LogPage, PageRequest, Total } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import type { Tally } from '../reading/pass.ts';
import { compareLines, type Place, type RankedLine, recordOf } from '../reading/ranked-line.ts';
import { BestLines } from './best-lines.ts';
import type { HeldBytes } from './held-bytes.ts';
import { type PagePosition, readPosition, writePosition } from './line-position.ts';

export interface PageOptions {
  readonly sources: readonly LogSource[];
  readonly request: PageRequest;
  readonly memory: HeldBytes;
  /** Whether a filter rejects lines. */
  readonly isFiltered: boolean;
  /** Whether only the places of lines are needed. */
  readonly onlyPlaces: boolean;
}

/** Gathers one page out of all lines, and how many there are. */
export class PageBuilder {
  readonly #options: PageOptions;
  readonly #best: BestLines;
  /** Where the page before ended. */
  readonly #position: PagePosition | undefined;
  #total = 0;
  /** Lines behind the position that the page begins at. */
  #behind = 0;

  /** Throws NotSupported when the request has a position that is none. */
  constructor(options: PageOptions) {
    const { request, sources } = options;
    this.#options = options;
    this.#best = this.#newBest();
    this.#position = request.after === undefined ? undefined : readPosition(request.after, sources);
  }

  get position(): PagePosition | undefined {
    return this.#position;
  }

  /** Whether all lines of the page are there, and it is known whether there is another page. */
  get isFull(): boolean {
    this.#best.sorted();
    return this.#best.refused !== undefined;
  }

  tally(rank: number): Tally {
    const best = this.#newBest();
    const { onlyPlaces, request } = this.#options;
    const { order } = request;
    let [total, behind] = [0, 0];
    return {
      onLine: (time, text, ordinal) => {
        total++;
        const place = { time, rank, ordinal };
        if (!this.#isBehind(place)) return;
        behind++;
        if (this.#best.takes(place)) best.offer(time, rank, ordinal, onlyPlaces ? '' : text);
      },
      // Oldest first, nothing behind what was let go can come into the page any more.
      until: () => (order === 'asc' ? first(best.refused?.time, this.#best.refused?.time) : undefined),
      done: () => {
        this.#total += total;
        this.#behind += behind;
        this.#best.merge(best);
      },
      drop: () => best.drop(),
    };
  }

  /** Whether not even the lines to skip are held, for want of memory. */
  get isShortOfFrom(): boolean {
    const { from, size } = this.#options.request;
    return size > 0 && from > 0 && this.#best.overflowed && this.length <= from;
  }

  /** How many lines are held. */
  get length(): number {
    return this.#best.sorted().length;
  }

  /** The position of the last line, with a total that is known from elsewhere; undefined when there is none. */
  endWith(total: Total): string | undefined {
    const lines = this.#best.sorted();
    const place = lines.at(-1);
    return place && writePosition({ place, total, span: spanOf(lines) }, this.#options.sources);
  }

  /** Holds no lines any more; the total stays. */
  drop(): void {
    this.#best.drop();
  }

  /** Whether the page is shorter than it was asked for, for want of memory. */
  get cut(): boolean {
    const { from, size } = this.#options.request;
    return this.#best.overflowed && this.#best.sorted().length < from + size;
  }

  /** `relation`: of the lines that were counted. */
  page(relation: Total['relation']): Pick<LogPage, 'records' | 'next' | 'total'> {
    const { request, sources } = this.#options;
    const lines = this.#best.sorted();
    const given = lines.slice(request.from);
    const last = lines.at(-1);
    const total = this.total(relation);
    const more = given.length > 0 && this.#behind > lines.length;
    return {
      total,
      records: given.map((line) => recordOf(line, sources)),
      next: more && last ? writePosition({ place: last, total, span: spanOf(given) }, sources) : undefined,
    };
  }

  /** `relation`: of the lines that were counted. */
  total(relation: Total['relation']): Total {
    const known = this.#position?.total;
    if (!known) return { count: this.#total, relation };
    return { ...known, relation: relation === 'gte' ? relation : known.relation };
  }

  #isBehind(place: Place): boolean {
    if (!this.#position) return true;
    const difference = compareLines(place, this.#position.place);
    return this.#options.request.order === 'asc' ? difference > 0 : difference < 0;
  }

  #newBest(): BestLines {
    const { request, isFiltered, memory } = this.#options;
    const { order, from, size } = request;
    const limit = size === 0 ? 0 : from + size;
    return new BestLines({ order, limit, memory, copies: isFiltered });
  }
}

function first(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return earlier(a, b);
}

function spanOf(lines: readonly RankedLine[]): number {
  const [from, to] = [lines[0]?.time ?? '', lines.at(-1)?.time ?? ''];
  return millisecondsOf(later(from, to)) - millisecondsOf(earlier(from, to));
}
