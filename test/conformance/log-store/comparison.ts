// Compares a log store with the reference implementation, for the same log records.
import { expect } from 'chai';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { momentOf } from '../../../hack/log-data/times.ts';
import type {
  Buckets,
  LogPage,
  LogRecord,
  Order,
  PageRequest,
  Selection,
} from '../../../server/logging/store/log-store.ts';
import { PlainTexts } from '../../support/logging/brute-force/text.ts';
import { call } from '../../support/logging/call.ts';
import { MemoryLogStore } from '../../support/logging/memory-log-store.ts';
import type { LogStoreTraits, StartedLogStore } from './harness.ts';

export class Comparison {
  readonly store: StartedLogStore['store'];
  readonly oracle: MemoryLogStore;
  readonly precision: StartedLogStore['precision'];
  readonly #traits: LogStoreTraits;
  readonly #plainTexts: PlainTexts;

  constructor(started: StartedLogStore, traits: LogStoreTraits) {
    this.store = started.store;
    this.precision = started.precision;
    this.#traits = traits;
    const { containersBy = 'id' } = traits;
    this.oracle = new MemoryLogStore(started.records, { containersBy });
    this.#plainTexts = new PlainTexts(this.oracle.records.map(({ log }) => log));
  }

  /** False if stores differ in the matches of the text. The result then has an upper bound, but no exact value. */
  isDefined({ text }: Selection): boolean {
    return text === undefined || this.#traits.ownWords !== true || this.#plainTexts.has(text);
  }

  /** False when the store rejects the selection as not supported, as documented. */
  async supports(selection: Selection): Promise<boolean> {
    if (this.#traits.unsupported?.(selection) !== true) return true;
    // A store may return an empty result without checking the rest of the selection.
    const { text: _text, levels: _levels, ...rest } = selection;
    const candidates = await this.oracle.statistics(rest, call());
    if (candidates.logs.count === 0) return false;
    const page: PageRequest = { order: 'asc', size: 1, from: 0 };
    const edges = [momentOf(selection.range.start).ms, momentOf(selection.range.end).ms + 1];
    const outcomes = await Promise.allSettled([
      this.store.query(selection, page, call()),
      this.store.statistics(selection, call()),
      this.store.histogram(selection, { edges }, call()),
      this.store.export(selection, 'asc', call()).next(),
    ]);
    for (const outcome of outcomes) {
      expect(outcome.status, `documented as not supported, but accepted: ${describe(selection)}`).to.equal(
        'rejected',
      );
      if (outcome.status === 'rejected') expectStatus(outcome.reason, 400);
    }
    return false;
  }

  /**
   * Compares one page: total, times and lines. Returns the number of lines that the reference has found, or 0 if stores
   * differ in the matches of the text.
   */
  async page(selection: Selection, request: PageRequest): Promise<number> {
    const expected = await this.oracle.query(selection, { ...request, ...ALL }, call());
    if (!(await this.supports(selection))) return expected.records.length;
    if (!this.isDefined(selection)) {
      await this.#boundedPage(selection, request);
      return 0;
    }
    const page = await this.store.query(selection, request, call());
    const what = describe(selection, request);
    expect(page.shortfalls, what).to.deep.equal([]);
    expect(page.total, what).to.deep.equal(expected.total);
    const end = Math.min(request.from + request.size, expected.records.length);
    this.#sameLines(page.records, expected.records, Math.min(request.from, end), end, what);
    if (request.size > 0 && end < expected.records.length) expect(page.next, what).to.be.a('string');
    return expected.records.length;
  }

  /** Checks that the lines also match the selection without its text, and that the result is not partial. */
  async #boundedPage({ text: _text, ...rest }: Selection, request: PageRequest): Promise<void> {
    const selection = { ...rest, ...(_text && { text: _text }) };
    const what = describe(selection, request);
    const candidates = await this.oracle.query(rest, { ...ALL, order: request.order }, call());
    const page = await this.store.query(selection, request, call());
    expect(page.shortfalls, what).to.deep.equal([]);
    expect(page.total.count, what).to.be.at.most(candidates.total.count);
    const known = new Set(candidates.records.map((record) => this.#keyOf(record)));
    for (const record of page.records) expect(known, what).to.include(this.#keyOf(record));
  }

  /** Reads all pages by cursor, and checks that each line is returned once and in order. Returns the lines. */
  async walk(selection: Selection, order: Order, size: number): Promise<LogRecord[]> {
    const expected = await this.oracle.query(selection, { order, ...ALL }, call());
    const what = describe(selection, { order, size });
    const walked: LogRecord[] = [];
    let after: string | undefined;
    do {
      const page: LogPage = await this.store.query(
        selection,
        { order, size, from: 0, ...(after === undefined ? {} : { after }) },
        call(),
      );
      expect(page.shortfalls, what).to.deep.equal([]);
      expect(page.total, what).to.deep.equal(expected.total);
      expect(page.records.length, what).to.be.at.most(size);
      walked.push(...page.records);
      expect(walked.length, `too many lines; ${what}`).to.be.at.most(expected.records.length);
      after = page.next;
      if (page.records.length === 0)
        expect(after, `an empty page with a next one; ${what}`).to.equal(undefined);
    } while (after !== undefined);
    this.#sameLines(walked, expected.records, 0, expected.records.length, what);
    return walked;
  }

  async statistics(selection: Selection): Promise<void> {
    if (!(await this.supports(selection)) || !this.isDefined(selection)) return;
    const expected = await this.oracle.statistics(selection, call());
    const { logs, containers, shortfalls } = await this.store.statistics(selection, call());
    expect({ logs, containers, shortfalls }, describe(selection)).to.deep.equal({
      logs: expected.logs,
      containers: expected.containers,
      shortfalls: [],
    });
  }

  /** Returns the counts. */
  async histogram(selection: Selection, buckets: Buckets): Promise<readonly number[]> {
    if (!(await this.supports(selection)) || !this.isDefined(selection)) return [];
    if (
      buckets.isBySeverity &&
      !(await this.supports({ ...selection, levels: selection.levels ?? ['info'] }))
    ) {
      const rejected = await Promise.allSettled([this.store.histogram(selection, buckets, call())]);
      for (const each of rejected) if (each.status === 'rejected') expectStatus(each.reason, 400);
      return [];
    }
    const expected = await this.oracle.histogram(selection, buckets, call());
    const found = await this.store.histogram(selection, buckets, call());
    expect(found, describe(selection, buckets)).to.deep.equal(expected);
    return expected.counts;
  }

  async export(selection: Selection, order: Order): Promise<LogRecord[]> {
    if (!(await this.supports(selection)) || !this.isDefined(selection)) return [];
    const expected = await this.oracle.query(selection, { order, ...ALL }, call());
    const what = describe(selection, { order });
    const exported: LogRecord[] = [];
    const batches = this.store.export(selection, order, call());
    for (;;) {
      const { done, value } = await batches.next();
      if (done === true) {
        expect(value, what).to.deep.equal({ shortfalls: [] });
        break;
      }
      expect(value.length, what).to.be.at.most(20_000);
      exported.push(...value);
    }
    this.#sameLines(exported, expected.records, 0, expected.records.length, what);
    return exported;
  }

  /** Checks that a live tail returns the existing records of the range in the order of time. */
  async follow(selection: Selection): Promise<void> {
    if (!(await this.supports(selection)) || !this.isDefined(selection)) return;
    // After all records: a live tail ignores the end of the range.
    const range = { ...selection.range, end: '2286-11-20T17:46:40.000000000Z' };
    const page = { order: 'asc', ...ALL } as const;
    const expected = await this.oracle.query({ ...selection, range }, page, call());
    if (expected.records.length === 0) return;
    const followed: LogRecord[] = [];
    for await (const batch of this.store.follow(selection, call())) {
      followed.push(...batch);
      if (followed.length >= expected.records.length) break;
    }
    this.#sameLines(followed, expected.records, 0, expected.records.length, describe(selection));
  }

  /**
   * Checks that the records are those of `expected` from `begin` to `end`, in any order within equal times. At either end,
   * other records of the same time are accepted.
   */
  #sameLines(
    found: readonly LogRecord[],
    expected: readonly LogRecord[],
    begin: number,
    end: number,
    what: string,
  ): void {
    const time = (record: LogRecord) => this.#timeOf(record);
    const times = (records: readonly LogRecord[]) => records.map(time);
    expect(found.length, `number of lines; ${what}`).to.equal(end - begin);
    expect(times(found), what).to.deep.equal(times(expected.slice(begin, end)));
    const left = new Map<string, number>();
    const wanted = new Set(times(found));
    for (const record of expected) {
      if (!wanted.has(time(record))) continue;
      const key = this.#keyOf(record);
      left.set(key, (left.get(key) ?? 0) + 1);
    }
    for (const record of found) {
      expect(record.time, what).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/);
      const key = this.#keyOf(record);
      const rest = left.get(key) ?? 0;
      expect(rest, `an unexpected or repeated line: ${key}; ${what}`).to.be.above(0);
      left.set(key, rest - 1);
    }
  }

  #timeOf({ time }: LogRecord): string {
    return this.precision === 'ns' ? time : time.slice(0, 23);
  }

  #keyOf(record: LogRecord): string {
    const { log, namespace, pod, container } = record;
    return JSON.stringify([this.#timeOf(record), namespace, pod, container, log]);
  }
}

const ALL = { size: Number.MAX_SAFE_INTEGER, from: 0 } as const;

export function expectStatus(error: unknown, ...codes: readonly number[]): void {
  if (!(error instanceof StatusError)) throw error;
  expect(codes, `${error.message} (${String(error.cause)})`).to.include(error.code);
}

/** Shortens long lists of namespaces. */
function describe(selection: Selection, more?: object): string {
  const short = JSON.stringify(selection, (_, value: unknown) =>
    Array.isArray(value) && value.length > 20
      ? [...value.slice(0, 20), `and ${value.length - 20} more`]
      : value,
  );
  return `${short}${more === undefined ? '' : ` ${JSON.stringify(more)}`}`;
}
