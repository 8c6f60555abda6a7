// Log queries against VictoriaLogs. Owns which requests answer a question; who may see what was decided before. Beside
// it: selection/ writes LogsQL, requests/ speaks HTTP, and each operation has a folder of its own.
import type { Logger } from 'pino';
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { isTimeout } from '../../../../apis/meta/v1/errors.ts';
import { aborted } from '../../../concurrency/aborted.ts';
import type { Turns } from '../../../concurrency/turns.ts';
import { Deadline } from '../../deadline.ts';
import { earlier, instantOf, later } from '../../instant.ts';
import type {
  Buckets,
  Call,
  Coverage,
  ExportBatch,
  LogBackend,
  LogHistogram,
  LogPage,
  LogRecord,
  LogStatistics,
  Order,
  PageRequest,
  Selection,
} from '../../log-store.ts';
import { BucketCounts } from '../bucket-counts.ts';
import { countBuckets } from './counting/histogram.ts';
import { Judge } from './counting/judge.ts';
import { type Overview, overviewOf, simpleOverview } from './counting/overview.ts';
import { countContainers } from './counting/statistics.ts';
import { exportLines } from './exporting/export.ts';
import { Followers } from './following/followers.ts';
import { readPage } from './paging/page.ts';
import { readPosition, writePosition } from './paging/position.ts';
import { Connection, type ConnectionOptions } from './requests/connection.ts';
import { Queries, REQUEST_MS } from './requests/queries.ts';
import { statusOf } from './requests/refusal.ts';
import type { FieldNames } from './selection/fields.ts';
import {
  type Question,
  type QuestionAbout,
  type Questions,
  questionsAbout,
  type Range,
} from './selection/question.ts';
import { checkFit } from './self-check.ts';

export interface VictoriaLogsOptions extends Omit<ConnectionOptions, 'now'> {
  readonly fields: FieldNames;
  readonly log: Pick<Logger, 'warn'>;
  /** In which answers are read; some of its own when none are given. */
  readonly turns?: Turns;
  /** A monotonic clock in ms. */
  readonly now?: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock?: () => number;
}

const NOTHING = { count: 0, span: undefined };
/** The share of its time that a query may spend on the total, so that some is left for lines. */
const TOTAL_SHARE = 0.75;

export class VictoriaLogsLogStore implements LogBackend {
  readonly #fields: FieldNames;
  readonly #now: () => number;
  readonly #connection: Connection;
  readonly #queries: Queries;
  readonly #followers: Followers;

  constructor(options: VictoriaLogsOptions) {
    const { now = () => performance.now(), wallClock = Date.now } = options;
    this.#fields = options.fields;
    this.#now = now;
    this.#connection = new Connection({ ...options, now });
    this.#queries = new Queries(this.#connection, options.turns);
    this.#followers = new Followers({ queries: this.#queries, log: options.log, now, wallClock });
  }

  async query(selection: Selection, request: PageRequest, call: Call): Promise<LogPage> {
    const after = request.after === undefined ? undefined : readPosition(request.after);
    const deadline = this.#deadline(call);
    const about = questionsAbout(selection, this.#fields);
    const questions = about(selection.range);
    if (!questions)
      return { total: { count: 0, relation: 'eq' }, records: [], next: undefined, shortfalls: [] };
    const judge = this.#judge(selection);
    const total = await this.#total(questions, judge, deadline);
    const overview = total ?? (await simpleOverview(this.#queries, questions.rough, deadline));
    const question = within(about, ({ quick, exact }) => (overview.isQuick && quick ? quick : exact));
    const { isMeant } = judge;
    const exactQuestion = within(about, ({ exact }) => exact);
    const wanted = { ...request, question, exactQuestion, fields: this.#fields, isMeant, overview, after };
    const { records, next } = await readPage(this.#queries, wanted, deadline);
    return {
      total: total ? { count: total.count, relation: 'eq' } : { count: records.length, relation: 'gte' },
      records,
      next: next && writePosition(next),
      shortfalls: total ? [] : [outOfTime('the lines could not all be counted in the time there was')],
    };
  }

  async statistics(selection: Selection, call: Call): Promise<LogStatistics> {
    const deadline = this.#deadline(call);
    const questions = questionsAbout(selection, this.#fields)(selection.range);
    const { logs, containers } = questions
      ? await countContainers(this.#queries, questions, this.#fields, this.#judge(selection), deadline)
      : { logs: 0, containers: 0 };
    return {
      logs: { count: logs, relation: 'eq' },
      containers,
      containersApproximate: false,
      shortfalls: [],
    };
  }

  async histogram(selection: Selection, buckets: Buckets, call: Call): Promise<LogHistogram> {
    const deadline = this.#deadline(call);
    const covered = overlapOf(selection.range, buckets.edges);
    const questions = covered && questionsAbout(selection, this.#fields)(covered);
    const { total, counts } = questions
      ? await countBuckets(this.#queries, questions, buckets, this.#judge(selection), deadline)
      : BucketCounts.of(buckets);
    return { total: { count: total, relation: 'eq' }, counts, shortfalls: [] };
  }

  async *export(
    selection: Selection,
    order: Order,
    call: Call,
  ): AsyncGenerator<ExportBatch, Coverage, undefined> {
    const deadline = this.#deadline(call);
    const about = questionsAbout(selection, this.#fields);
    const questions = about(selection.range);
    // What is there is counted without looking into lines: that is done once, when the time is cut into slices.
    const { count, span: range } = questions
      ? await simpleOverview(this.#queries, questions.rough, deadline.within(REQUEST_MS))
      : NOTHING;
    if (!range) return { shortfalls: [] };
    const question = within(about, ({ quick, exact }) => quick ?? exact);
    const isMeant = selection.text && this.#judge(selection).isMeant;
    const wanted = { question, fields: this.#fields, isMeant, order, range, count };
    try {
      yield* exportLines(this.#queries, wanted, deadline);
    } catch (error) {
      if (call.signal.aborted || !deadline.isOver) throw error;
      return { shortfalls: [outOfTime('the export took longer than it may')] };
    }
    return { shortfalls: [] };
  }

  follow(
    selection: Selection,
    call: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { start } = selection.range;
    const about = questionsAbout(selection, this.#fields);
    const question = within(about, ({ quick, exact }) => quick ?? exact);
    const { isMeant } = this.#judge(selection);
    const rough = within(about, (questions) => questions.rough);
    return this.#followers.follow({ question, rough, fields: this.#fields, isMeant, start }, call);
  }

  async check(call: Call): Promise<void> {
    await checkFit(this.#queries, this.#fields, this.#deadline(call));
  }

  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    this.#connection.close();
  }

  /** Throws when nobody waits for an answer any more. */
  #deadline(call: Call): Deadline {
    if (call.signal.aborted) throw statusOf(call.signal.reason, call.signal, false);
    return new Deadline(call, this.#now);
  }

  #judge(selection: Selection): Judge {
    return new Judge(this.#queries, this.#fields, selection.text);
  }

  /** Undefined when it took too long. */
  async #total(questions: Questions, judge: Judge, deadline: Deadline): Promise<Overview | undefined> {
    try {
      return await overviewOf(this.#queries, questions, judge, deadline.share(TOTAL_SHARE));
    } catch (error) {
      if (!isTimeout(error) || deadline.signal.aborted || deadline.isOver) throw error;
      return undefined;
    }
  }
}

/** One of the questions, about a part of the selection's range. */
function within(
  about: (range: Range) => Questions | undefined,
  which: (questions: Questions) => Question,
): QuestionAbout {
  return (range) => {
    const questions = about(range);
    return questions && which(questions);
  };
}

function outOfTime(message: string): Shortfall {
  return { reason: 'Timeout', message };
}

function overlapOf({ start, end }: Range, edges: readonly number[]): Range | undefined {
  const [first, last] = [edges[0], edges.at(-1)];
  if (first === undefined || last === undefined || first >= last) return undefined;
  const within = { start: later(start, instantOf(first)), end: earlier(end, instantOf(last)) };
  return within.start < within.end ? within : undefined;
}
