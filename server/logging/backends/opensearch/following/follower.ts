// The lines that one follower has not been given yet. A line is found a moment after it was written, and lines of
// different nodes overtake one another; so each question counts what the last seconds hold, and when that is more than
// was given, they are read once more.
import { fewerWhenTooMuch } from '../../../fewer-lines.ts';
import { instantOf, millisecondsOf } from '../../../instant.ts';
import type { Call, LogRecord, Selection } from '../../../log-store.ts';
import { pageBody } from '../paging/page-body.ts';
import { digestOf, type Position, searchAfter } from '../searches/position.ts';
import { checkWhole, type SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import { positionBehind, repeated, timesOf, unseen } from '../searches/sort-keys.ts';
import type { SelectionQueries } from '../selection/selection-queries.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';
import type { Pace } from './pace.ts';

export interface FollowerOptions {
  readonly searches: Searches;
  readonly queries: SelectionQueries;
  readonly pace: Pace;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

export interface FollowerTuning {
  /** A line that is found later than this after its time, and after later ones, is lost. */
  readonly lateMs: number;
  readonly pageSize: number;
  /** Records of the last `lateMs` that are known to have been given; with more of them the time gets shorter. */
  readonly remembered: number;
}

const ASK_MS = 10_000;
/** While much is read that was there before, so many times as much may be remembered. */
const SLACK = 2;
const DAY_MS = 86_400_000;

/** Knows which lines one follower was given. */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #tuning: FollowerTuning;
  readonly #selection: Selection;
  /** What was given of the time that is counted again each time: digest → milliseconds of its time. */
  readonly #given = new Map<string, number>();
  #indices: string | undefined;
  #position: Position | undefined;
  /** Milliseconds of the last record that was given; never in the future. */
  #reached: number;
  /** Of what lies before this time, not all that was given is remembered. */
  #floor = Number.NEGATIVE_INFINITY;

  constructor(options: FollowerOptions, tuning: FollowerTuning, selection: Selection) {
    this.#options = options;
    this.#tuning = tuning;
    this.#selection = selection;
    this.#reached = millisecondsOf(selection.range.start);
  }

  /** Where the last question looked, part of a path; undefined while there are no such indices. */
  get indices(): string | undefined {
    return this.#indices;
  }

  /** Records that are known to have been given. */
  get remembered(): number {
    return this.#given.size;
  }

  /** Everything that has not been given yet. */
  async *news(signal: AbortSignal): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { range } = this.#selection;
    this.#bound();
    const from = Math.max(millisecondsOf(range.start), this.#floor, this.#reached - this.#tuning.lateMs);
    this.#forgetBefore(from);
    // A clock may be ahead of ours, but not by more than a day.
    const end = instantOf(this.#options.wallClock() + DAY_MS);
    const start = from > millisecondsOf(range.start) ? instantOf(from) : range.start;
    const call = { signal, timeoutMs: ASK_MS };
    const slices = await this.#options.queries.inTime({ ...this.#selection, range: { start, end } }, call);
    this.#indices = slices[0]?.indices;
    const floor = this.#floor;
    let counted = 0;
    for (const slice of slices) {
      counted += yield* this.#read(slice, { begin: this.#position, isAgain: false }, call);
    }
    // What was given of this time is not all remembered any more; the next question is about less of it.
    if (this.#floor > floor) return;
    // More than was given: some of it came late, behind the position.
    if (!this.#position || counted <= this.#given.size) return;
    for (const slice of slices) {
      yield* this.#read(slice, { begin: undefined, isAgain: true }, call);
    }
  }

  /** All pages behind the position; returns how many records there are in the whole time, wherever the position is. */
  async *#read(
    selected: SelectionQuery,
    { begin, isAgain }: { readonly begin: Position | undefined; readonly isAgain: boolean },
    call: Call,
  ): AsyncGenerator<readonly LogRecord[], number, undefined> {
    const { fields, query, indices } = selected;
    const { searches, pace } = this.#options;
    let position = begin;
    let { pageSize } = this.#tuning;
    for (;;) {
      const again = repeated(position);
      const after = position && searchAfter(position, 'asc', fields.nanoseconds);
      const { answer, asked } = await fewerWhenTooMuch(
        pageSize,
        (size) => {
          const body = pageBody({ query, order: 'asc', size: size + again, total: true }, fields);
          return pace.turn(call.signal, () => searches.searchIndices(indices, body, call, after));
        },
        call.signal,
      );
      pageSize = asked;
      // Lines of a shard that failed would be skipped forever.
      checkWhole(answer);
      const last = unseen(answer, position).at(-1);
      const batch = this.#take(answer, selected);
      if (batch.length > 0) yield batch;
      if (!last || answer.hits.length < asked + again) return answer.total.count;
      position = positionBehind(answer, last.at, fields.nanoseconds, position);
      // Reading again takes knowledge of everything that was given.
      if (!isAgain && this.#given.size > SLACK * this.#tuning.remembered) this.#bound();
    }
  }

  #take(answer: SearchAnswer, { fields }: SelectionQuery): LogRecord[] {
    const { nanoseconds } = fields;
    const now = this.#options.wallClock();
    const times = timesOf(answer, nanoseconds);
    const fresh: LogRecord[] = [];
    let reached = -1;
    answer.hits.forEach((hit, at) => {
      const time = times[at] ?? now;
      // Lines with a time in the future must not hide those that come before it.
      if (time <= now && time >= this.#reached) reached = at;
      const digest = digestOf(hit.index, hit.id);
      if (this.#given.has(digest)) return;
      this.#given.set(digest, time);
      fresh.push(fields.records.read(hit));
    });
    const last = times[reached];
    if (last !== undefined) {
      const next = positionBehind(answer, reached, nanoseconds, undefined);
      if (!this.#position || isBehind(next, this.#position)) this.#position = next;
      this.#reached = last;
    }
    return fresh;
  }

  #forgetBefore(milliseconds: number): void {
    for (const [digest, time] of this.#given) if (time < milliseconds) this.#given.delete(digest);
  }

  /** Where more comes than can be remembered, less of the past is looked at again. */
  #bound(): void {
    // Lines with a time in the future are found again and again until then, so they are forgotten last.
    for (const isAhead of [false, true]) {
      for (const [digest, time] of this.#given) {
        if (this.#given.size <= this.#tuning.remembered) return;
        if (time > this.#reached !== isAhead) continue;
        this.#given.delete(digest);
        this.#floor = Math.max(this.#floor, Math.min(time, this.#reached) + 1);
      }
    }
  }
}

function isBehind(one: Position, other: Position): boolean {
  return one.time > other.time || (one.time === other.time && one.sequence > other.sequence);
}
