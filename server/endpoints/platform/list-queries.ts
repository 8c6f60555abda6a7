// Reads the queries of the lists of one kind, and caches the recent ones.
import { newBadRequest } from '../../../apis/meta/v1/errors.ts';
import type { ResourceQuery } from '../../../apis/resources/v1alpha3/resource-query.ts';
import {
  newResourceQueryDecoder,
  type ResourceQueryDecoder,
} from '../../../apis/resources/v1alpha3/resource-query-decoder.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { searchIn } from '../../request/request-path.ts';
import { exactName } from '../../resources/kind.ts';
import { sortKeysOf } from '../../resources/kind-profile.ts';
import type { ListedKind } from '../../resources/kinds/followed-kind.ts';
import { allOf, type ListFilter, listFilter } from '../../resources/lists/list-filter.ts';
import type { ObjectFacts } from '../../resources/object-facts.ts';
import { CONSOLE_WORDS, translated } from './console-query.ts';

/** A query with the name of the Service whose pods are selected. */
export interface ReadQuery extends ResourceQuery {
  readonly service: string | undefined;
}

export interface ListQuery<Facts> extends ReadQuery {
  readonly filter: ListFilter<Facts>;
}

/** Maximum number of cached queries. The cache is bounded because clients choose the query strings. */
const MAX_CACHED = 512;
const MAX_LENGTH = 2048;
/** Cache-busting parameters, which differ in each request. They are removed from the cache key of a query. */
const CACHE_BUSTER = /(?:^|&)(?:_|t)=[^&]*/g;

export class ListQueries<Facts extends ObjectFacts> {
  readonly #listed: Pick<ListedKind<Facts>, 'kind' | 'profile'>;
  readonly #decoder: ResourceQueryDecoder;
  readonly #cached = new BoundedMap<string, ListQuery<Facts>>(MAX_CACHED);

  constructor(listed: Pick<ListedKind<Facts>, 'kind' | 'profile'>) {
    this.#listed = listed;
    const { kind, profile } = listed;
    this.#decoder = newResourceQueryDecoder({
      sortKeys: sortKeysOf(profile),
      unsortable: profile.unsortable,
      statuses: profile.statuses,
      filters: Object.keys(profile.filters),
      fields: [
        'metadata.name',
        ...(kind.namespaced ? ['metadata.namespace'] : []),
        ...Object.keys(profile.fields),
      ],
    });
  }

  /** Throws BadRequest with all validation errors. */
  of(context: RequestContext): ListQuery<Facts> {
    const search = searchIn(context.request.url ?? '').replace(CACHE_BUSTER, '');
    const known = this.#cached.get(search);
    if (known) return known;
    const { kind, profile } = this.#listed;
    const sent = new URLSearchParams(search);
    const isPlain = !CONSOLE_WORDS.test(sent.toString());
    const {
      query: given,
      filters,
      service,
    } = isPlain ? { query: sent, filters: [], service: undefined } : translated(kind, sent, profile);
    const query = this.#decoder.decode(given);
    if (query.namespaces && !kind.namespaced) {
      throw newBadRequest(`namespaces: ${exactName(kind)} are not namespaced`);
    }
    const read = { ...query, service, filter: allOf([listFilter(query, profile), ...filters]) };
    if (search.length <= MAX_LENGTH) this.#cached.set(search, read);
    return read;
  }
}
