// All lines in order, with bounded memory. The store can only sort all of an answer at once, at several times the cost of
// giving it unsorted: so it is asked for one slice of time after the other, and each is put in order here.

import type { LogRecord } from '../../log-store.ts';
import { newNotSupported } from '../../store-errors.ts';
import type { Asking, Deadline } from './asking.ts';
import type { FieldNames } from './fields.ts';
import type { Range } from './question.ts';
import { inOrder, recordFields, recordOf } from './record.ts';
import { STORE } from './refusal.ts';
import { type SlicePlan, slicesOf } from './slices.ts';

export interface ExportWanted extends Omit<SlicePlan, 'size'> {
  readonly fields: FieldNames;
  /** Whether a line that the question found is wanted. */
  readonly isMeant: (record: LogRecord) => boolean;
  readonly range: Range;
  /** How many lines there may be at most. */
  readonly count: number;
}

/** Lines of a slice: enough to make a request worth while, few enough to hold three of them. */
const SLICE = 4_000;
const BATCH = 2_000;
/** What one request may take; an export may take long, but not because a store hangs. */
export const REQUEST_MS = 60_000;
/** Slices that are fetched before they are asked for. */
const AHEAD = 2;
/** When lines keep coming, a slice may have grown; beyond this it is cut anew. */
const MAX_SLICE = 4 * SLICE;
/** Lines of one moment, which can not be cut. */
const MAX_MOMENT = 200_000;

/** `call`: the time for all of it. */
export async function* exportLines(
  asking: Asking,
  wanted: ExportWanted,
  call: Deadline,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  const ended = new AbortController();
  const deadline = call.until(ended.signal);
  const fetched: Promise<readonly LogRecord[] | Range>[] = [];
  try {
    const slices = slicesOf(asking, { ...wanted, size: SLICE }, wanted.range, wanted.count, deadline);
    for await (const slice of slices) {
      const reading = readSlice(asking, wanted, slice, deadline);
      // Whoever takes it learns of the failure; until then nobody is there to be told.
      reading.catch(() => undefined);
      fetched.push(reading);
      if (fetched.length > AHEAD) yield* given(asking, wanted, await fetched.shift(), call);
    }
    while (fetched.length > 0) yield* given(asking, wanted, await fetched.shift(), call);
  } finally {
    ended.abort();
  }
}

/** A slice that was too long is cut again. */
async function* given(
  asking: Asking,
  wanted: ExportWanted,
  slice: readonly LogRecord[] | Range = [],
  deadline: Deadline,
): AsyncGenerator<readonly LogRecord[], void, undefined> {
  if (!('start' in slice)) {
    for (let at = 0; at < slice.length; at += BATCH) yield slice.slice(at, at + BATCH);
    return;
  }
  yield* exportLines(asking, { ...wanted, range: slice, count: MAX_SLICE * 2 }, deadline);
}

/** In order; the range itself when it has too many lines. */
async function readSlice(
  asking: Asking,
  { question, fields, isMeant, order }: ExportWanted,
  range: Range,
  deadline: Deadline,
): Promise<LogRecord[] | Range> {
  const asked = question(range);
  if (!asked) return [];
  const records: LogRecord[] = [];
  for await (const rows of asking.rows(asked, [recordFields(fields)], deadline.within(REQUEST_MS))) {
    for (const row of rows) records.push(recordOf(row, fields));
    if (records.length <= MAX_SLICE) continue;
    const isMoment = records.every(({ time }) => time === range.start);
    if (!isMoment) return range;
    if (records.length > MAX_MOMENT) throw tooManyAtOnce();
  }
  return inOrder(records.filter(isMeant), order);
}

function tooManyAtOnce(): Error {
  return newNotSupported(STORE, 'start_time', `more than ${MAX_MOMENT} lines have the same time`);
}
