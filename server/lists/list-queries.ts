// Reads the queries of the lists of one kind, and caches the recent ones.
import { LRUCache } from 'lru-cache';
import { newInvalidParameter } from '../../apis/meta/v1/errors.ts';
import type { ResourceQuery } from '../../apis/resources/v1alpha3/resource-query.ts';
import {
  newResourceQueryDecoder,
  type ResourceQueryDecoder,
} from '../../apis/resources/v1alpha3/resource-query-decoder.ts';
import { exactName } from '../resources/kind.ts';
import { sortKeysOf } from '../resources/kind-profile.ts';
import type { ListedKind } from '../resources/kinds/followed-kind.ts';
import { allOf, type ListFilter, listFilter } from '../resources/lists/list-filter.ts';
import type { ObjectFacts } from '../resources/object-facts.ts';
import { CONSOLE_WORDS, translated } from './console-query.ts';

/** A query with the name of the Service whose pods are selected. */
export interface ReadQuery extends ResourceQuery {
  readonly service: string | undefined;
}

export interface ListQuery<Facts> extends ReadQuery {
  readonly filter: ListFilter<Facts>;
}

/** Maximum memory of the cached queries of a kind, in bytes. It is small, because clients choose the queries, and each kind has a cache. */
const MAX_CACHED = 256 << 10;
/** Memory of a query in bytes, and of each character of one with selectors. */
const QUERY_BYTES = 1024;
const SELECTOR_BYTES = 72;
/** Cache-busting parameters, which differ in each request. They are removed from the cache key of a query. */
const CACHE_BUSTER = /(?:^|&)(?:_|t)=[^&]*/g;

export class ListQueries<Facts extends ObjectFacts> {
  readonly #listed: Pick<ListedKind<Facts>, 'kind' | 'profile'>;
  readonly #decoder: ResourceQueryDecoder;
  readonly #cached = new LRUCache<string, ListQuery<Facts>>({
    maxSize: MAX_CACHED,
    sizeCalculation: (query, search) => bytesOf(search, query),
  });

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

  /** Reads the query string of a URL. Throws BadRequest with all validation errors. */
  of(given: string): ListQuery<Facts> {
    const search = given.replace(CACHE_BUSTER, '');
    const known = this.#cached.get(search);
    if (known) return known;
    const { kind, profile } = this.#listed;
    const sent = new URLSearchParams(search);
    const isPlain = !CONSOLE_WORDS.test(sent.toString());
    const {
      query: wanted,
      filters,
      service,
    } = isPlain ? { query: sent, filters: [], service: undefined } : translated(kind, sent, profile);
    const query = this.#decoder.decode(wanted);
    if (query.namespaces && !kind.namespaced) {
      const parameter = wanted.has('namespaces') ? 'namespaces' : 'namespace';
      throw newInvalidParameter(parameter, `${exactName(kind)} are not namespaced`);
    }
    const read = { ...query, service, filter: allOf([listFilter(query, profile), ...filters]) };
    this.#cached.set(search, read);
    return read;
  }
}

function bytesOf(search: string, query: ResourceQuery): number {
  const { labelSelector, label, annotation, fieldSelector, names, namespaces, status } = query;
  const parsed = [labelSelector, label, annotation, fieldSelector, names, namespaces, status];
  const isPlain = parsed.every((parameter) => parameter === undefined);
  return QUERY_BYTES + search.length * (isPlain ? 2 : SELECTOR_BYTES);
}
