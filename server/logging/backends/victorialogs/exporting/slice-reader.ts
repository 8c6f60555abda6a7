// One slice of an export: a request that the store sorts, and others for what is left when its time ends too early.
import { isTimeout } from '../../../../../apis/meta/v1/errors.ts';
import type { Deadline } from '../../../deadline.ts';
import { behind } from '../requests/nanoseconds.ts';
import type { Queries } from '../requests/queries.ts';
import { recordFields } from '../requests/record.ts';
import type { FieldNames } from '../selection/fields.ts';
import { TIME } from '../selection/logsql.ts';
import type { QuestionAbout, Range } from '../selection/question.ts';
import { recordPipes } from './record-line.ts';
import { type LinesWanted, type RecordLines, recordLinesOf } from './record-lines.ts';
import type { SliceProgress } from './slice-size.ts';

/** Lines of one moment, which cannot be cut. */
const MAX_MOMENT = 200_000;

export interface SliceWanted extends Omit<LinesWanted, 'maxMoment'> {
  readonly question: QuestionAbout;
  readonly fields: FieldNames;
  readonly range: Range;
}

export interface SliceBounds {
  /**
   * Milliseconds for one request. A reader that is slower than that does not keep the store: what is left is asked for
   * again when it is wanted.
   */
  readonly sliceMs: number;
  /** Milliseconds for a request in whose time nothing else was done than waiting; behind it, the store hangs. */
  readonly requestMs: number;
}

type Lines = AsyncGenerator<RecordLines, void, undefined>;

export class SliceReader {
  readonly #queries: Queries;
  readonly #wanted: SliceWanted;
  readonly #bounds: SliceBounds;
  readonly #deadline: Deadline;
  readonly #stopped = new AbortController();
  readonly #prepared: Lines;
  /** What is left to be given. */
  #left: Range;
  #progress = { lines: 0, bytes: 0, readerMs: 0, storeMs: 0 };

  /** Asks the store at once. */
  constructor(queries: Queries, wanted: SliceWanted, deadline: Deadline, bounds: SliceBounds) {
    this.#queries = queries;
    this.#wanted = wanted;
    this.#bounds = bounds;
    this.#deadline = deadline.until(this.#stopped.signal);
    this.#left = wanted.range;
    this.#prepared = begun(this.#ask(bounds.sliceMs));
  }

  get isMoment(): boolean {
    return isMoment(this.#left);
  }

  get progress(): SliceProgress {
    return this.#progress;
  }

  /** Returns what was not given. */
  stop(): Range {
    this.#stopped.abort();
    return this.#left;
  }

  async *read(): Lines {
    const { sliceMs, requestMs } = this.#bounds;
    let since = performance.now();
    const elapsed = (): number => {
      const before = since;
      since = performance.now();
      return since - before;
    };
    let lines = this.#prepared;
    for (let isPatient = false; ; ) {
      let hasGiven = false;
      try {
        for await (const batch of lines) {
          hasGiven = true;
          this.#gave(batch);
          this.#progress.storeMs += elapsed();
          if (batch.length > 0) yield batch;
          this.#progress.readerMs += elapsed();
        }
        break;
      } catch (error) {
        const isOurs = this.#deadline.signal.aborted || this.#deadline.isOver;
        if (isOurs || !isTimeout(error) || (isPatient && !hasGiven)) throw error;
        if (this.#left.start >= this.#left.end) break;
        isPatient = !hasGiven;
        lines = this.#ask(isPatient ? requestMs : sliceMs);
      }
    }
    this.#progress.storeMs += elapsed();
  }

  #gave({ length, ndjson, until }: RecordLines): void {
    this.#progress.lines += length;
    this.#progress.bytes += ndjson.length;
    const { start, end } = this.#left;
    this.#left = this.#wanted.order === 'asc' ? { start: behind(until), end } : { start, end: until };
  }

  #ask(ms: number): Lines {
    const { question, fields, order, isMeant } = this.#wanted;
    const asked = question(this.#left);
    if (!asked) return nothing();
    // Lines of one moment need not be sorted by the store, and so take no memory there, however many they are.
    const sort = isMoment(this.#left) ? [] : [`sort by (${TIME}${order === 'asc' ? '' : ' desc'})`];
    const pipes = [recordFields(fields), ...sort, ...recordPipes(fields)];
    return this.#queries.read(asked, pipes, this.#deadline.within(ms), (body, turns) =>
      recordLinesOf(body, turns, { order, isMeant, maxMoment: MAX_MOMENT }),
    );
  }
}

/** Does its first step at once, and the others when it is read. */
function begun(lines: Lines): Lines {
  const first = lines.next();
  first.catch(() => undefined);
  return (async function* () {
    try {
      for (let next = await first; next.done !== true; next = await lines.next()) yield next.value;
    } finally {
      await lines.return();
    }
  })();
}

// oxlint-disable-next-line require-yield -- it is what an answer without lines looks like
async function* nothing(): Lines {}

function isMoment({ start, end }: Range): boolean {
  return behind(start) === end;
}
