// Whether the store answers, and holds what the configuration says: indices of these names, with fields of these.
import { UnfitOptionError } from '../../configuration-errors.ts';
import { BEGINNING, instantOf } from '../../instant.ts';
import type { Call } from '../../log-store.ts';
import { isSearchRefused, newStoreUnavailable } from '../../store-errors.ts';
import { STORE } from './connection/store-name.ts';
import { type FieldMap, parentOf } from './fields/field-map.ts';
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
    throw isSearchRefused(error) ? unfit(refusedIndices(prefix)) : error;
  });
  const found = await probe.searchable(indices, call);
  if (!found) {
    const isAny = daily && (await probe.searchable(beginningWith(prefix), call)) !== undefined;
    throw unfit(isAny ? notByDay(prefix) : noLines(prefix));
  }
  if (daily) {
    if (!(await isByDay(options, found.fields, call))) throw unfit(notByDay(prefix));
    const others = await notOfDays(options, found.fields, call);
    if (others.length > 0) throw unfit(someNotByDay(others));
  }
  const { missing, beside, wordless, uncounted, names } = found.fields;
  if (missing !== undefined) throw unfit(noNames(missing));
  if (beside !== undefined) throw unfit(noValues(beside));
  if (wordless.length > 0) throw unfit(noWords(names.message, wordless));
  if (uncounted !== undefined) throw unfit(noContainers(uncounted));
  if (points.fault) throw unfit(points.fault);
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

function unfit(error: UnfitOptionError): Error {
  return newStoreUnavailable(STORE, error);
}

function refusedIndices(prefix: string): UnfitOptionError {
  const reason = `it refuses to search some of the indices that begin with ${prefix}, or all`;
  const effect = 'log queries miss their lines, or get 503';
  return new UnfitOptionError('logging.opensearch.indexPrefix', reason, effect);
}

function notByDay(prefix: string): UnfitOptionError {
  const reason = `there are indices that begin with ${prefix}, but none is named by its day`;
  return new UnfitOptionError('logging.opensearch.dailyIndices', reason, FINDS_NOTHING);
}

function someNotByDay(names: readonly string[]): UnfitOptionError {
  const [last = ''] = names.toReversed();
  const reason = names.length === 1 ? `${last} is` : `${last} and others are`;
  return new UnfitOptionError(
    'logging.opensearch.dailyIndices',
    `${reason} not named by the day`,
    'log queries miss their lines',
  );
}

/** Of a new store as well as of a wrong name: nobody but who runs it can tell them apart. */
function noLines(prefix: string): UnfitOptionError {
  const reason = `there is no line yet in indices that begin with ${prefix}`;
  return new UnfitOptionError('logging.opensearch.indexPrefix', reason, FINDS_NOTHING);
}

/** Who may read all namespaces is shown the lines, without the name. */
function noNames(field: string): UnfitOptionError {
  const reason = `the indices have no field ${field} of type keyword, nor one beside it`;
  return new UnfitOptionError('logging.opensearch.fields', reason, 'log queries miss lines');
}

function noValues(field: string): UnfitOptionError {
  const reason = `records have no ${field}, which is indexed beside ${parentOf(field)}: that one has to be named`;
  return new UnfitOptionError('logging.opensearch.fields', reason, 'log queries show nothing in its place');
}

function noWords(field: string, indices: readonly string[]): UnfitOptionError {
  const [last = ''] = indices.toSorted().toReversed();
  const which = indices.length === 1 ? last : `${last} and others`;
  const reason = `in ${which} the field ${field} is no text that is indexed (another type, not mapped, or index: false)`;
  const effect = 'log queries for words miss their lines, or get 400';
  return new UnfitOptionError('logging.opensearch.fields', reason, effect);
}

function noContainers(field: string): UnfitOptionError {
  const reason = `some of the indices, or all, cannot count by their field ${field} (doc_values: false, not mapped, or no keyword)`;
  return new UnfitOptionError('logging.opensearch.fields', reason, 'statistics miss containers');
}

const FINDS_NOTHING = 'log queries find nothing';
