// Asks the store which fields it has, and remembers it for a while: indices come with each day, and mappings grow.
import { ExpiringMap } from '../../../../cache/expiring-map.ts';
import type { Call } from '../../../log-store.ts';
import { FieldMap } from '../requests/field-map.ts';
import type { FieldNames } from '../requests/field-names.ts';
import { LENIENT, type Searches } from '../requests/searches.ts';

/** What is remembered: so many patterns of indices, for so long. */
const REMEMBERED = { most: 64, ttlMs: 30_000 };
/** Costs next to nothing, and fails where there are indices that can not be searched. */
export const ANYTHING = { size: 0, track_total_hits: false, terminate_after: 1 } as const;

export class FieldProbe {
  readonly #searches: Searches;
  readonly #names: FieldNames;
  readonly #known: ExpiringMap<string, FieldMap>;

  constructor(searches: Searches, names: FieldNames, now: () => number) {
    this.#searches = searches;
    this.#names = names;
    this.#known = new ExpiringMap({ ...REMEMBERED, now });
  }

  /** Undefined while there are no such indices, which is asked anew each time. */
  async fields(indices: string, call: Call): Promise<FieldMap | undefined> {
    const known = this.#known.get(indices);
    if (known) return known;
    const fields = await this.#searches.ask(
      {
        method: 'GET',
        path: `/${indices}/_field_caps`,
        query: { ...LENIENT, include_unmapped: 'true', fields: FieldMap.asked(this.#names) },
      },
      call,
      (text) => FieldMap.read(this.#names, JSON.parse(text)),
    );
    if (!fields) {
      // Indices of which every shard is away are not told of either; a search says so.
      await this.#searches.searchIndices(indices, ANYTHING, call);
      return undefined;
    }
    this.#known.set(indices, fields);
    return fields;
  }
}
