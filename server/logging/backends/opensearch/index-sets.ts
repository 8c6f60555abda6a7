// Cache of the indices that a log query can search, with the fields of each index. Closed, blocked and forbidden
// indices are excluded.
import { LRUCache } from 'lru-cache';
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { inParallel } from '../../../concurrency/parallel.ts';
import { UnfitOptionError } from '../../store/configuration-errors.ts';
import { instantOf, millisecondsOf } from '../../store/instant.ts';
import type { Call, Selection } from '../../store/log-store.ts';
import { isIndexAccessDenied, newNotSupported, newStoreUnavailable } from '../../store/store-errors.ts';
import { STORE, unsearchableIndexIn } from './error-response.ts';
import { type Layout, type Layouts, readLayouts, requestedFields } from './layout.ts';
import { LENIENT, type SearchBody, type SearchClient } from './search-client.ts';
import type { FieldNames } from './search-hit.ts';
import { assertComplete } from './search-response.ts';

export interface IndexNaming {
  readonly prefix: string;
  /** Whether there is one index for each day in UTC, `<prefix>-YYYY.MM.DD`. */
  readonly daily: boolean;
}

export interface IndexSet extends Layouts {
  /** Part of a path. */
  readonly path: string;
  /** Number of shards. It changes when an index is created, deleted or closed. */
  readonly shards: number;
  /** False while an index has no mapping, because it has no document, or has unavailable shards. */
  readonly isSettled: boolean;
  readonly shortfalls: readonly Shortfall[];
}

/** Indices of one layout. */
interface LayoutPath {
  readonly path: string;
  readonly layout: Layout;
}

/** Half of the 4,096 bytes that the store accepts as a request line; about 75 days with the default prefix. */
const MAX_PATH_LENGTH = 2_048;
/** Maximum length with excluded names. */
const MAX_EXCLUDING_LENGTH = 3_072;
const DAY_MS = 86_400_000;
const DAY_LENGTH = '-2026.01.15,'.length;

/** Maximum number of cached sets. */
const CACHED = 64;
/** TTL in ms. It limits the time until a closed index or a changed mapping is noticed. */
const TTL_MS = { settled: 60_000, unsettled: 1_000 };
const NO_DOCUMENTS: SearchBody = { size: 0, track_total_hits: false, query: { match_none: {} } };
/** With this parameter, a closed index causes an error that names one closed index. */
const WITH_CLOSED = { expand_wildcards: 'open,closed' } as const;
const REQUESTS_AT_A_TIME = 8;
/** Maximum number of indices that are excluded from a pattern, because finding each one needs a request. */
const MAX_EXCLUDED = 5;
const MAX_NAMED = 5;

/** Indices that exist but cannot be searched. */
interface Unsearchable {
  readonly refused: string[];
  readonly closed: string[];
  /** Whether there can be further closed indices. */
  isIncomplete: boolean;
}

export class IndexSets {
  readonly #client: SearchClient;
  readonly #names: FieldNames;
  readonly #naming: IndexNaming;
  readonly #cache: LRUCache<string, IndexSet>;

  /** `now`: a monotonic clock, in ms. */
  constructor(client: SearchClient, names: FieldNames, naming: IndexNaming, now: () => number) {
    this.#client = client;
    this.#names = names;
    this.#naming = naming;
    this.#cache = new LRUCache({ max: CACHED, ttlResolution: 0, perf: { now } });
  }

  /**
   * Returns undefined if no index exists. Throws newIndexAccessDenied() if all are closed or forbidden, and
   * StoreUnavailable if the user has no permission to read the layout.
   */
  async read(path: string, call: Call): Promise<IndexSet | undefined> {
    const cached = this.#cache.get(path);
    if (cached) return cached;
    const set = await this.#read(path, call);
    if (set) this.#cache.set(path, set, { ttl: set.isSettled ? TTL_MS.settled : TTL_MS.unsettled });
    return set;
  }

  /** Clears the cache. */
  invalidate(): void {
    this.#cache.clear();
  }

  async #read(path: string, call: Call): Promise<IndexSet | undefined> {
    const unsearchable: Unsearchable = { refused: [], closed: [], isIncomplete: false };
    let searched = path;
    if ((await this.#refusal(withPatterns(path), WITH_CLOSED, call)) !== undefined) {
      searched = isPattern(path)
        ? await this.#patternWithout(path, unsearchable, call)
        : await this.#namesWithout(path.split(','), unsearchable, call);
    }
    // Shards are counted before the layout is read, so that an index that is created in between is noticed.
    const counted = await this.#client.searchPath(searched, NO_DOCUMENTS, call);
    if (counted.shards === 0 && searched !== path) {
      throw newStoreUnavailable(STORE, new Error('all of its indices are closed or forbidden'));
    }
    const layouts = await this.#layouts(searched, call);
    if (!layouts || layouts.indices.length === 0) {
      assertComplete(counted);
      if (counted.shards > 0) throw noFieldCaps();
      return undefined;
    }
    const unsupported = [...layouts.unsupported.keys()];
    const shortfalls = unsearchableShortfalls(unsearchable, this.#naming);
    const isSettled = layouts.empty.length === 0 && counted.shortfalls.length === 0;
    const set = { ...layouts, path: searched, shards: counted.shards, isSettled, shortfalls };
    if (unsupported.length === 0) return set;
    // Excluded, because a time field that is no date would fail the sorted search of all indices.
    const supported = excluding(searched, unsupported);
    if (layouts.groups.length === 0 || supported === undefined)
      throw unsupportedLayout(layouts, this.#naming);
    const { shards } = await this.#client.searchPath(supported, NO_DOCUMENTS, call);
    const message = `the log store has an unsupported layout of ${shownIndices(unsupported, this.#naming)}`;
    return {
      ...set,
      path: supported,
      shards,
      shortfalls: [...shortfalls, { reason: 'NotCovered', message }],
    };
  }

  #layouts(path: string, call: Call): Promise<Layouts | undefined> {
    const query = { ...LENIENT, include_unmapped: 'true', fields: requestedFields(this.#names) };
    return this.#client.request({ method: 'GET', path: `/${path}/_field_caps`, query }, call, (json) =>
      readLayouts(json, this.#names),
    );
  }

  /**
   * Returns the names that can be searched. Sends one request for each name, because the security plugin does not name
   * forbidden indices. Throws the store's error if no index is left.
   */
  async #namesWithout(names: readonly string[], found: Unsearchable, call: Call): Promise<string> {
    const refusals = await inParallel(REQUESTS_AT_A_TIME, names, (name) => this.#refusal(name, {}, call));
    const searchable = names.filter((name, n) => {
      const refusal = refusals[n];
      if (refusal === undefined) return true;
      found[unsearchableIndexIn(refusal)?.isClosed ? 'closed' : 'refused'].push(decodeURIComponent(name));
      return false;
    });
    if (searchable.length === 0) throw refusals[0];
    return searchable.join(',');
  }

  /** Returns the pattern without blocked indices. Throws the store's error if it names no index. */
  async #patternWithout(pattern: string, found: Unsearchable, call: Call): Promise<string> {
    const excluded: string[] = [];
    for (;;) {
      const path = excluding(pattern, excluded);
      found.isIncomplete = path === undefined || excluded.length > MAX_EXCLUDED;
      if (path === undefined || found.isIncomplete) break;
      const refusal = await this.#refusal(path, WITH_CLOSED, call);
      if (refusal === undefined) break;
      const index = unsearchableIndexIn(refusal);
      // The exclusion has no effect, because the pattern matches the index by another name.
      if (!index || excluded.includes(index.name)) throw refusal;
      found[index.isClosed ? 'closed' : 'refused'].push(index.name);
      excluded.push(index.name);
    }
    // Closed indices need no exclusion: the store omits them from a pattern.
    return excluding(pattern, found.refused) ?? pattern;
  }

  /** Returns the error with which the store rejects a search of these indices; undefined if it accepts the search. */
  async #refusal(path: string, query: Readonly<Record<string, string>>, call: Call): Promise<unknown> {
    const body = JSON.stringify(NO_DOCUMENTS);
    const request = { method: 'POST', path: `/${path}/_search`, query, body } as const;
    try {
      await this.#client.request(request, call, () => undefined);
      return undefined;
    } catch (error) {
      if (isIndexAccessDenied(error)) return error;
      // No shard is available, which the search itself reports.
      if (error instanceof StatusError && error.code === 503) return undefined;
      throw error;
    }
  }
}

/** Returns the paths of each layout, as few as possible; almost always a single one. */
export function layoutPaths({ path, groups }: IndexSet): LayoutPath[] {
  const [only] = groups;
  if (only && groups.length === 1) return [{ path, layout: only.layout }];
  return groups.flatMap(({ layout, indices }) =>
    joinedNames(indices.map(encodeURIComponent)).map((names) => ({ path: names, layout })),
  );
}

function joinedNames(names: readonly string[]): string[] {
  const paths: string[] = [];
  for (const name of names) {
    const last = paths.at(-1);
    if (last === undefined || last.length + name.length >= MAX_PATH_LENGTH) paths.push(name);
    else paths[paths.length - 1] = `${last},${name}`;
  }
  return paths;
}

/** Converts names to patterns, because a missing index is an error by name, but not by pattern. */
function withPatterns(path: string): string {
  return path
    .split(',')
    .map((name) => (name.endsWith('*') || name.startsWith('-') ? name : `${name}*`))
    .join(',');
}

function unsearchableShortfalls(unsearchable: Unsearchable, naming: IndexNaming): Shortfall[] {
  const { refused, closed, isIncomplete } = unsearchable;
  const more = isIncomplete ? ', and possibly more' : '';
  const rejects = `the log store rejects searches of ${shownIndices(refused, naming)}`;
  const hasClosed = `the log store has closed ${shownIndices(closed, naming)}${more}`;
  const messages = [...(refused.length > 0 ? [rejects] : []), ...(closed.length > 0 ? [hasClosed] : [])];
  return messages.map((message) => ({ reason: 'NotCovered', message }));
}

export function listed(names: readonly string[]): string {
  const sorted = names.toSorted();
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${sorted.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** For clients: the names of daily indices, else only their number, because other names can contain those of namespaces. */
export function shownIndices(names: readonly string[], { daily }: IndexNaming): string {
  return daily ? listed(names) : names.length === 1 ? '1 index' : `${names.length} indices`;
}

function unsupportedLayout({ unsupported }: Layouts, naming: IndexNaming): Error {
  const [[index = '', problem] = []] = unsupported;
  const reason = `in index ${index} ${problem}`;
  const unfit = new UnfitOptionError('logging.opensearch.fields', reason, 'log queries return 400');
  return newNotSupported(STORE, 'start_time', `in ${shownIndices([index], naming)} ${problem}`, unfit);
}

/** The security plugin omits indices without an error if the user has no permission for `field_caps`. */
function noFieldCaps(): Error {
  const reason = 'it shows no fields of the indices; its user needs indices:data/read/field_caps*';
  return newStoreUnavailable(STORE, new UnfitOptionError('logging.opensearch', reason));
}

/** The daily indices of a range, separated by commas; the pattern of all indices if that is too long. */
export function indexPath(naming: IndexNaming, { start, end }: Selection['range']): string {
  if (!naming.daily) return allIndices(naming);
  const first = dayOf(start);
  // The end is exclusive: a range that ends at midnight does not include the day that begins then.
  const lastDay = dayOf(end);
  const last = end > instantOf(lastDay) ? lastDay : lastDay - DAY_MS;
  const days = Math.max(1, (last - first) / DAY_MS + 1);
  const prefix = encodeURIComponent(naming.prefix);
  if (!(days * (prefix.length + DAY_LENGTH) <= MAX_PATH_LENGTH)) return allIndices(naming);
  return Array.from({ length: days }, (_, n) => `${prefix}-${dayName(first + n * DAY_MS)}`).join(',');
}

/** The pattern of all indices with the prefix. With daily indices it is `<prefix>-2*`, to exclude longer prefixes. */
export function allIndices({ prefix, daily }: IndexNaming): string {
  return daily ? `${encodeURIComponent(prefix)}-2*` : allWithPrefix(prefix);
}

export function allWithPrefix(prefix: string): string {
  return `${encodeURIComponent(prefix)}*`;
}

function isPattern(path: string): boolean {
  return path.includes('*');
}

/** Excludes indices from a path; undefined if the result is too long. */
function excluding(path: string, names: readonly string[]): string | undefined {
  if (!isPattern(path)) {
    const excluded = new Set(names.map(encodeURIComponent));
    return path
      .split(',')
      .filter((name) => !excluded.has(name))
      .join(',');
  }
  const shorter = [path, ...names.map((name) => `-${encodeURIComponent(name)}`)].join(',');
  return shorter.length <= MAX_EXCLUDING_LENGTH ? shorter : undefined;
}

function dayOf(instant: string): number {
  return Math.floor(millisecondsOf(instant) / DAY_MS) * DAY_MS;
}

function dayName(day: number): string {
  return new Date(day).toISOString().slice(0, 10).replaceAll('-', '.');
}
