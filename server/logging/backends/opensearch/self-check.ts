// Whether the store answers, and holds what the configuration says: indices of these names, with fields of these.
import { UnfitOptionError } from '../../configuration-errors.ts';
import { BEGINNING, instantOf } from '../../instant.ts';
import type { Call } from '../../log-store.ts';
import { isSearchRefused, newStoreUnavailable } from '../../store-errors.ts';
import { STORE } from './connection/store-name.ts';
import { type FieldMap, parentOf } from './fields/field-map.ts';
import { regexp } from './searches/clause.ts';
import type { PointsInTime } from './searches/point-in-time.ts';
import type { Searches } from './searches/searches.ts';
import type { FieldProbe } from './selection/field-probe.ts';
import {
  allIndices,
  beginningWith,
  dayWithin,
  type IndexNaming,
  isOfDay,
  newestDays,
} from './selection/index-names.ts';

export interface SelfCheckOptions {
  readonly searches: Searches;
  readonly probe: FieldProbe;
  readonly points: Pick<PointsInTime, 'fault'>;
  readonly naming: IndexNaming;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

const DAY_MS = 86_400_000;
/** Indices with other names than days have: the last of them by name. */
const LOOKED_AT = 20;
/** A part of one, whichever: that fails where there is no source. Of another order than that of times all can be asked. */
const ANY_RECORD = {
  size: 1,
  track_total_hits: false,
  terminate_after: 1,
  _source: ['time'],
  sort: ['_doc', { _seq_no: { unmapped_type: 'long' } }],
};

/** Resolves when log queries find what there is; else rejects with the option that does not fit, if it is one. */
export async function checkFit(options: SelfCheckOptions, call: Call): Promise<void> {
  const { searches, probe, points, naming } = options;
  const { prefix, daily } = naming;
  const indices = allIndices(naming);
  // The fields may be remembered; the store has to answer each time.
  await searches.searchIndices(indices, ANY_RECORD, call).catch((error: unknown) => {
    if (!isSearchRefused(error)) throw error;
    const reason = `it refuses to search some of the indices that begin with ${prefix}, or all`;
    throw unfit('indexPrefix', reason, 'log queries miss their lines, or get 503');
  });
  const found = await probe.searchable(indices, call);
  if (!found) {
    const isAny = daily && (await probe.searchable(beginningWith(prefix), call)) !== undefined;
    // Of a new store as well as of a wrong name: nobody but who runs it can tell them apart.
    throw isAny
      ? noneByDay(prefix)
      : unfit('indexPrefix', `there is no line yet in indices that begin with ${prefix}`);
  }
  if (daily) {
    if (!(await isByDay(options, found.fields, call))) throw noneByDay(prefix);
    const others = await notOfDays(options, found.fields, call);
    if (others.length > 0) {
      const reason = `${lastOf(others)} ${others.length === 1 ? 'is' : 'are'} not named by the day`;
      throw unfit('dailyIndices', reason, 'log queries miss their lines');
    }
  }
  checkFields(found.fields);
  if (points.fault) throw newStoreUnavailable(STORE, points.fault);
  const costly = { ...ANY_RECORD, size: 0, query: regexp(found.fields.names.message, 'any') };
  await searches.searchIndices(found.indices, costly, call);
}

function noneByDay(prefix: string): Error {
  return unfit('dailyIndices', `there are indices that begin with ${prefix}, but none is named by its day`);
}

/** Whether some of them are called as days are, or have such an alias; not so those that are rolled over within a day. */
async function isByDay(
  { probe, naming, wallClock }: SelfCheckOptions,
  { indices }: FieldMap,
  call: Call,
): Promise<boolean> {
  if (indices.some((name) => isOfDay(naming.prefix, name))) return true;
  const days = newestDays(naming, { start: BEGINNING, end: instantOf(wallClock() + DAY_MS) });
  return days !== undefined && (await probe.searchable(days, call)) !== undefined;
}

/** Those that are not called as days are, and have no such alias either; nobody finds their lines by the day. */
async function notOfDays(
  { probe, naming: { prefix } }: SelfCheckOptions,
  { indices }: FieldMap,
  call: Call,
): Promise<string[]> {
  const others = indices
    .filter((name) => name.startsWith(`${prefix}-`) && !isOfDay(prefix, name))
    .toSorted()
    .slice(-LOOKED_AT);
  const days = new Set(others.map((name) => dayWithin(prefix, name)).filter((day) => day !== undefined));
  const found = days.size === 0 ? undefined : await probe.searchable([...days].join(','), call);
  return others.filter((name) => !found?.fields.indices.includes(name));
}

function unfit(
  option: 'indexPrefix' | 'dailyIndices' | 'fields',
  reason: string,
  effect = 'log queries find nothing',
): Error {
  return newStoreUnavailable(STORE, new UnfitOptionError(`logging.opensearch.${option}`, reason, effect));
}

/** Throws where questions about these would find less than there is, or show less. */
function checkFields(fields: FieldMap): void {
  const { names, missing, beside } = fields;
  if (missing !== undefined) {
    const reason = `the indices have no field ${missing} of type keyword, nor one beside it`;
    // Who may read all namespaces is shown them, without the name.
    throw unfit('fields', reason, 'log queries miss lines');
  }
  if (beside !== undefined) {
    const reason = `records have no ${beside}, which is indexed beside ${parentOf(beside)}: that one has to be named`;
    throw unfit('fields', reason, 'log queries show nothing in its place');
  }
  const wordless = fields.words.missing;
  if (wordless.length > 0) {
    const reason = `in ${lastOf(wordless)} the field ${names.message} is no text that is indexed (another type, not mapped, or index: false)`;
    throw unfit('fields', reason, 'log queries for words miss their lines, or get 400');
  }
  const uncounted = fields.listed('containerID').missing;
  if (uncounted.length > 0) {
    const reason = `in ${lastOf(uncounted)} nothing can be counted by the field ${names.containerID} (doc_values: false, not mapped, or no keyword)`;
    throw unfit('fields', reason, 'statistics miss containers');
  }
}

/** The last of them by name. */
function lastOf(indices: readonly string[]): string {
  const [last = ''] = indices.toSorted().toReversed();
  return indices.length === 1 ? last : `${last} and others`;
}
