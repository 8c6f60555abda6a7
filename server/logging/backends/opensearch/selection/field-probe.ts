// Asks the store which fields it has, and remembers it for a while: indices come with each day, and mappings grow.
import { ExpiringMap } from '../../../../cache/expiring-map.ts';
import type { Call } from '../../../log-store.ts';
import { isSearchRefused } from '../../../store-errors.ts';
import { inParallel } from '../../../work/parallel.ts';
import { FieldMap } from '../requests/field-map.ts';
import type { FieldNames } from '../requests/field-names.ts';
import { LENIENT, type Searches } from '../requests/searches.ts';

/** What is remembered: so many patterns of indices, for so long. */
const REMEMBERED = { most: 64, ttlMs: 30_000 };
/** Costs next to nothing, and fails where there are indices that can not be searched. */
export const ANYTHING = { size: 0, track_total_hits: false, terminate_after: 1 } as const;

/** Indices that can be searched. */
export interface SearchableIndices {
  /** Part of a path. */
  readonly indices: string;
  readonly fields: FieldMap;
  /** Those that the store refuses to search. */
  readonly refused: readonly string[];
  /** Before this one, others may be left out. */
  readonly oldest?: string;
}

/** Names that are asked about one by one. */
const AT_A_TIME = 8;

export class FieldProbe {
  readonly #searches: Searches;
  readonly #names: FieldNames;
  readonly #known: ExpiringMap<string, SearchableIndices>;

  constructor(searches: Searches, names: FieldNames, now: () => number) {
    this.#searches = searches;
    this.#names = names;
    this.#known = new ExpiringMap({ ...REMEMBERED, now });
  }

  /**
   * Undefined while there are no such indices, which is asked anew each time. A store that refuses some of several
   * indices refuses all of the question, and does not tell which they are. `newest`: names of some that a pattern stands
   * for, to be asked in its place then.
   */
  async searchable(
    indices: string,
    call: Call,
    newest?: () => string | undefined,
  ): Promise<SearchableIndices | undefined> {
    const known = this.#known.get(indices);
    if (known) return known;
    try {
      const found = await this.#ask(indices, call);
      if (found) this.#known.set(indices, found);
      return found;
    } catch (error) {
      if (!isSearchRefused(error)) throw error;
      const some = await this.#askForSome(indices, call, newest);
      // Nothing that could be searched is not the same as nothing that is there.
      if (!some) throw error;
      if (!some.oldest) this.#known.set(indices, some);
      return some;
    }
  }

  async #askForSome(
    indices: string,
    call: Call,
    newest: (() => string | undefined) | undefined,
  ): Promise<SearchableIndices | undefined> {
    const names = indices.split(',');
    if (names.length > 1) return this.#askEach(names, call);
    return indices.endsWith('*') ? this.#askNewest(newest?.(), call) : undefined;
  }

  async #askNewest(newest: string | undefined, call: Call): Promise<SearchableIndices | undefined> {
    const [oldest] = newest?.split(',') ?? [];
    const found = newest && (await this.searchable(newest, call));
    return found && oldest ? { ...found, oldest } : undefined;
  }

  async #askEach(names: readonly string[], call: Call): Promise<SearchableIndices | undefined> {
    const answers = await inParallel(AT_A_TIME, names, (name) => this.#isSearchable(name, call));
    const searchable = names.filter((_, n) => answers[n]);
    const found = searchable.length > 0 && (await this.#ask(searchable.join(','), call));
    return found ? { ...found, refused: names.filter((_, n) => !answers[n]) } : undefined;
  }

  async #isSearchable(name: string, call: Call): Promise<boolean> {
    try {
      await this.#searches.searchIndices(name, ANYTHING, call);
      return true;
    } catch (error) {
      if (isSearchRefused(error)) return false;
      throw error;
    }
  }

  async #ask(indices: string, call: Call): Promise<SearchableIndices | undefined> {
    const fields = await this.#searches.ask(
      {
        method: 'GET',
        path: `/${indices}/_field_caps`,
        query: { ...LENIENT, include_unmapped: 'true', fields: FieldMap.asked(this.#names) },
      },
      call,
      (text) => FieldMap.read(this.#names, JSON.parse(text)),
    );
    if (fields) return { indices, fields, refused: [] };
    // Indices of which every shard is away are not told of either; a search says so.
    await this.#searches.searchIndices(indices, ANYTHING, call);
    return undefined;
  }
}
