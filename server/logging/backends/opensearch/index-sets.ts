// Sets of indices that queries search together: their layouts, and the closed, blocked, forbidden and unsupported indices
// that are left out. A set is read once, and again when the number of its shards changes.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { inParallel } from '../../../concurrency/parallel.ts';
import { ExpiringMap } from '../../../memory/expiring-map.ts';
import { UnfitOptionError } from '../../configuration-errors.ts';
import type { Call } from '../../log-store.ts';
import { isIndexAccessDenied, newNotSupported, newStoreUnavailable } from '../../store-errors.ts';
import { STORE, unsearchableIndexIn } from './error-response.ts';
import { excluding, isPattern, MAX_PATH_LENGTH } from './index-names.ts';
import { type FieldNames, type Layout, type Layouts, readLayouts, requestedFields } from './layout.ts';
import { LENIENT, type SearchBody, type SearchClient } from './search-client.ts';
import { assertComplete, type SearchResponse } from './search-response.ts';

export interface IndexSet extends Layouts {
  /** Part of a path. */
  readonly path: string;
  /** Number of shards. Another number means that an index appeared, was deleted, or closed. */
  readonly shards: number;
  /** False while an index has no document, and so no mapping, or has unavailable shards. */
  readonly isSettled: boolean;
  readonly shortfalls: readonly Shortfall[];
}

/** Indices of one layout. */
export interface LayoutPath {
  readonly path: string;
  readonly layout: Layout;
}

/** The time bounds how long a closed index, or a mapping that changed, stays unnoticed. */
const CACHED = { most: 64, ttlMs: 60_000 };
const UNSETTLED_MS = 1_000;
const NO_DOCUMENTS: SearchBody = { size: 0, track_total_hits: false, query: { match_none: {} } };
/** With this option a closed index is an error, which names the first of them. */
const WITH_CLOSED = { expand_wildcards: 'open,closed' } as const;
const REQUESTS_AT_A_TIME = 8;
/** Each index that a pattern leaves out costs a request. */
const MAX_EXCLUDED = 5;
const MAX_NAMED = 5;

/** Indices that exist and are not searched. */
interface Unsearchable {
  readonly refused: string[];
  readonly closed: string[];
  /** Whether there may be more closed ones. */
  isIncomplete: boolean;
}

export class IndexSets {
  readonly #client: SearchClient;
  readonly #names: FieldNames;
  readonly #now: () => number;
  #cache: ExpiringMap<string, { readonly set: IndexSet; readonly readAt: number }>;

  /** `now` is a monotonic clock in ms. */
  constructor(client: SearchClient, names: FieldNames, now: () => number) {
    this.#client = client;
    this.#names = names;
    this.#now = now;
    this.#cache = new ExpiringMap({ ...CACHED, now });
  }

  /**
   * Undefined if no such index exists. Throws newIndexAccessDenied() if all are closed or forbidden, and StoreUnavailable if
   * the user may not read the layout.
   */
  async read(path: string, call: Call): Promise<IndexSet | undefined> {
    const [cache, now] = [this.#cache, this.#now()];
    const { set: cached, readAt = now } = cache.get(path) ?? {};
    if (cached && (cached.isSettled || now - readAt < UNSETTLED_MS)) return cached;
    const set = await this.#read(path, call);
    if (set) cache.set(path, { set, readAt: now });
    return set;
  }

  /** The next read of each set asks the store. */
  invalidate(): void {
    this.#cache = new ExpiringMap({ ...CACHED, now: this.#now });
  }

  async #read(path: string, call: Call): Promise<IndexSet | undefined> {
    const unsearchable: Unsearchable = { refused: [], closed: [], isIncomplete: false };
    let searched = path;
    if ((await this.#refusal(withPatterns(path), WITH_CLOSED, call)) !== undefined) {
      searched = await this.#withoutUnsearchable(path, unsearchable, call);
    }
    // Counted first: an index that appears before its layout is read changes the number of shards of the query.
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
    return this.#withoutUnsupported({ searched, unsearchable, layouts, counted }, call);
  }

  /** A time that is no date breaks the sorted search of all indices. */
  async #withoutUnsupported(
    {
      searched,
      unsearchable,
      layouts,
      counted,
    }: { searched: string; unsearchable: Unsearchable; layouts: Layouts; counted: SearchResponse },
    call: Call,
  ): Promise<IndexSet> {
    const unsupported = [...layouts.unsupported.keys()];
    const shortfalls = unsearchableShortfalls(unsearchable);
    const isSettled = layouts.empty.length === 0 && counted.shortfalls.length === 0;
    const set = { ...layouts, path: searched, shards: counted.shards, isSettled, shortfalls };
    if (unsupported.length === 0) return set;
    const path = excluding(searched, unsupported);
    if (layouts.groups.length === 0 || path === undefined) {
      const [[index, problem] = []] = layouts.unsupported;
      const reason = `in index ${index} ${problem}`;
      const unfit = new UnfitOptionError('logging.opensearch.fields', reason, 'log queries get 400');
      throw newNotSupported(STORE, 'start_time', reason, unfit);
    }
    const { shards } = await this.#client.searchPath(path, NO_DOCUMENTS, call);
    const message = `the log store has indices with an unsupported layout: ${listed(unsupported)}`;
    return { ...set, path, shards, shortfalls: [...shortfalls, { reason: 'NotCovered', message }] };
  }

  #layouts(path: string, call: Call): Promise<Layouts | undefined> {
    const query = { ...LENIENT, include_unmapped: 'true', fields: requestedFields(this.#names) };
    return this.#client.request({ method: 'GET', path: `/${path}/_field_caps`, query }, call, (text) =>
      readLayouts(text, this.#names),
    );
  }

  /** The path of the searchable indices. Throws the rejection if there is none, or the store does not name what it rejects. */
  #withoutUnsearchable(path: string, found: Unsearchable, call: Call): Promise<string> {
    return isPattern(path)
      ? this.#patternWithout(path, found, call)
      : this.#namesWithout(path.split(','), found, call);
  }

  /** One request for each name, because the security plugin does not name the forbidden ones. */
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

  async #patternWithout(pattern: string, found: Unsearchable, call: Call): Promise<string> {
    const excluded: string[] = [];
    for (;;) {
      const path = excluding(pattern, excluded);
      found.isIncomplete = path === undefined || excluded.length > MAX_EXCLUDED;
      if (path === undefined || found.isIncomplete) break;
      const refusal = await this.#refusal(path, WITH_CLOSED, call);
      if (refusal === undefined) break;
      const index = unsearchableIndexIn(refusal);
      // An index that is rejected although it is excluded has another name in the store.
      if (!index || excluded.includes(index.name)) throw refusal;
      found[index.isClosed ? 'closed' : 'refused'].push(index.name);
      excluded.push(index.name);
    }
    // The store itself leaves out closed indices beyond the limit.
    return excluding(pattern, found.refused) ?? pattern;
  }

  /** Why the store rejects to search all of these; undefined if it does not. */
  async #refusal(path: string, query: Readonly<Record<string, string>>, call: Call): Promise<unknown> {
    const body = JSON.stringify(NO_DOCUMENTS);
    try {
      await this.#client.request(
        { method: 'POST', path: `/${path}/_search`, query, body },
        call,
        () => undefined,
      );
      return undefined;
    } catch (error) {
      if (isIndexAccessDenied(error)) return error;
      // No shard is available. The search itself reports that.
      if (error instanceof StatusError && error.code === 503) return undefined;
      throw error;
    }
  }
}

/** The layouts of the set, each with its indices in as few paths as possible. Almost always one. */
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

/** As patterns, so that a day without an index is no error. */
function withPatterns(path: string): string {
  return path
    .split(',')
    .map((name) => (name.endsWith('*') || name.startsWith('-') ? name : `${name}*`))
    .join(',');
}

function unsearchableShortfalls({ refused, closed, isIncomplete }: Unsearchable): Shortfall[] {
  const more = isIncomplete ? ', and possibly more' : '';
  const messages = [
    ...(refused.length > 0 ? [`rejects searches of ${listed(refused)}`] : []),
    ...(closed.length > 0 ? [`has closed ${listed(closed)}${more}`] : []),
  ];
  return messages.map((message) => ({ reason: 'NotCovered', message: `the log store ${message}` }));
}

export function listed(names: readonly string[]): string {
  const sorted = names.toSorted();
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `${sorted.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/** The security plugin leaves out, without an error, indices whose fields the user may not read. */
function noFieldCaps(): Error {
  const reason = 'it shows no fields of the indices; its user needs indices:data/read/field_caps*';
  return newStoreUnavailable(STORE, new UnfitOptionError('logging.opensearch', reason));
}
