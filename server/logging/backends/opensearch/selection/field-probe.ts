// Asks the store which fields it has, and remembers it for a while: indices come with each day, and mappings grow.
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { ExpiringMap } from '../../../../memory/expiring-map.ts';
import { UnfitOptionError } from '../../../configuration-errors.ts';
import type { Call } from '../../../log-store.ts';
import { isSearchRefused, newStoreUnavailable } from '../../../store-errors.ts';
import { STORE } from '../connection/store-name.ts';
import { FieldMap } from '../fields/field-map.ts';
import type { FieldNames } from '../fields/field-names.ts';
import type { RecordedFields } from '../fields/field-types.ts';
import { endingTogether } from '../searches/ending-together.ts';
import { checkWhole } from '../searches/search-answer.ts';
import { LENIENT, type Searches } from '../searches/searches.ts';
import { IndexStates, type Remaining } from './index-states.ts';
import { recordedFields } from './recorded-fields.ts';

/** What is remembered: so many patterns of indices, for so long. */
const REMEMBERED = { most: 64, ttlMs: 30_000 };

/** Indices that can be searched, and those among them that cannot. */
export interface SearchableIndices extends Remaining {
  readonly fields: FieldMap;
  /** Before this one, others may be left out. */
  readonly oldest?: string;
}

export class FieldProbe {
  readonly #searches: Searches;
  readonly #names: FieldNames;
  readonly #states: IndexStates;
  readonly #newKnown: () => ExpiringMap<string, SearchableIndices>;
  #known: ExpiringMap<string, SearchableIndices>;

  constructor(searches: Searches, names: FieldNames, now: () => number) {
    this.#searches = searches;
    this.#names = names;
    this.#states = new IndexStates(searches);
    this.#newKnown = () => new ExpiringMap({ ...REMEMBERED, now });
    this.#known = this.#newKnown();
  }

  /**
   * Undefined while there are no such indices, which is asked anew each time. `newest`: names of some that a pattern
   * stands for, to be asked in its place where the store refuses some and does not tell which. Throws what
   * newSearchRefused() makes where there are some, and none can be searched.
   */
  async searchable(
    indices: string,
    call: Call,
    newest?: () => string | undefined,
  ): Promise<SearchableIndices | undefined> {
    const known = this.#known.get(indices);
    if (known) return known;
    const found = await this.#find(indices, call, newest);
    if (found && !found.oldest) this.#known.set(indices, found);
    return found;
  }

  /** Everything is asked anew from now on. */
  forget(): void {
    this.#known = this.#newKnown();
  }

  async #find(
    indices: string,
    call: Call,
    newest: (() => string | undefined) | undefined,
  ): Promise<SearchableIndices | undefined> {
    const [fields, refusal] = await endingTogether(call, (together) =>
      Promise.all([this.#fieldsOrRefusal(indices, together), this.#states.refusal(indices, together)]),
    );
    if (refusal === undefined && !(fields instanceof StatusError)) {
      return fields && { indices, fields, refused: [], closed: [], areMoreClosed: false };
    }
    const some = await this.#findSome(indices, call, newest);
    // Nothing that could be searched is not the same as nothing that is there.
    if (!some) throw refusal ?? fields;
    return some;
  }

  async #findSome(
    indices: string,
    call: Call,
    newest: (() => string | undefined) | undefined,
  ): Promise<SearchableIndices | undefined> {
    const names = indices.split(',');
    const isPattern = indices.includes('*');
    const excluding = isPattern ? await this.#states.excluding(indices, call) : undefined;
    if (isPattern && !excluding && names.length === 1) return this.#findNewest(newest?.(), call);
    const remaining = excluding ?? (await this.#states.without(names, call));
    const fields = remaining.indices !== '' && (await this.#ask(remaining.indices, call));
    return fields ? { ...remaining, fields } : undefined;
  }

  async #findNewest(newest: string | undefined, call: Call): Promise<SearchableIndices | undefined> {
    const [oldest] = newest?.split(',') ?? [];
    const found = newest && (await this.searchable(newest, call));
    return found && oldest ? { ...found, oldest } : undefined;
  }

  #fieldsOrRefusal(indices: string, call: Call): Promise<FieldMap | StatusError | undefined> {
    return this.#ask(indices, call).catch((error: unknown) => {
      if (error instanceof StatusError && isSearchRefused(error)) return error;
      throw error;
    });
  }

  /** Undefined also where nothing is in them, and not all is mapped: that comes with the first line. */
  async #ask(indices: string, call: Call): Promise<FieldMap | undefined> {
    const mapped = await this.#fieldsOf(indices, call);
    const unmapped = mapped?.unmapped;
    if (mapped && !unmapped) return usable(mapped);
    // Nor is anything told of indices of which every shard is away; this says so.
    const found = await recordedFields(this.#searches, indices, unmapped, call);
    const isMapped = mapped && unmapped?.indices.length !== mapped.indices.length;
    if (found.isEmpty && !isMapped) {
      checkWhole(found);
      return undefined;
    }
    // In this order, since the first line may have come meanwhile.
    const fields = await this.#fieldsOf(indices, call, found.recorded);
    if (!fields) throw untold();
    return usable(fields);
  }

  #fieldsOf(indices: string, call: Call, recorded?: RecordedFields): Promise<FieldMap | undefined> {
    return this.#searches.ask(
      {
        method: 'GET',
        path: `/${indices}/_field_caps`,
        query: { ...LENIENT, include_unmapped: 'true', fields: FieldMap.asked(this.#names) },
      },
      call,
      (text) => FieldMap.read(this.#names, JSON.parse(text), recorded),
    );
  }
}

function usable(fields: FieldMap): FieldMap {
  if (fields.fault) throw newStoreUnavailable(STORE, fields.fault);
  return fields;
}

/** The security plugin leaves out, without a word, indices of which a user may not ask each by itself. */
function untold(): Error {
  const reason =
    'it tells no field of the indices that it searches; its user has to be granted indices:data/read/field_caps*';
  return newStoreUnavailable(STORE, new UnfitOptionError('logging.opensearch', reason));
}
