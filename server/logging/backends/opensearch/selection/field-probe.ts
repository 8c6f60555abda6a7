// Asks the store which fields it has, and remembers it for a while: indices come with each day, and mappings grow.
import type { Call } from '../../../log-store.ts';
import { FieldMap } from '../requests/field-map.ts';
import type { FieldNames } from '../requests/field-names.ts';
import { LENIENT, type Searches } from '../requests/searches.ts';

const TRUSTED_MS = 30_000;
/** Costs next to nothing, and fails where there are indices that can not be searched. */
export const ANYTHING = { size: 0, track_total_hits: false, terminate_after: 1 } as const;
/** Patterns of indices that are remembered. */
const KEPT = 64;

export class FieldProbe {
  readonly #searches: Searches;
  readonly #names: FieldNames;
  readonly #now: () => number;
  readonly #known = new Map<string, { readonly at: number; readonly fields: FieldMap }>();

  constructor(searches: Searches, names: FieldNames, now: () => number) {
    this.#searches = searches;
    this.#names = names;
    this.#now = now;
  }

  /** Undefined while there are no such indices, which is asked anew each time. */
  async fields(indices: string, call: Call): Promise<FieldMap | undefined> {
    const known = this.#known.get(indices);
    if (known && this.#now() - known.at < TRUSTED_MS) return known.fields;
    const fields = await this.#searches.ask(
      {
        method: 'GET',
        path: `/${indices}/_field_caps`,
        query: { ...LENIENT, include_unmapped: 'true', fields: FieldMap.asked(this.#names) },
      },
      call,
      (text) => FieldMap.read(this.#names, JSON.parse(text)),
    );
    this.#known.delete(indices);
    if (!fields) {
      // Indices of which every shard is away are not told of either; a search says so.
      await this.#searches.searchIndices(indices, ANYTHING, call);
      return undefined;
    }
    this.#known.set(indices, { at: this.#now(), fields });
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest);
    return fields;
  }
}
