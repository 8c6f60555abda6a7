// The query strings of the node list, read once each: consoles ask the same again and again.
import type { NodeQuery } from '../../../apis/resources/v1alpha3/node-query.ts';
import { newNodeQueryDecoder } from '../../../apis/resources/v1alpha3/node-query-decoder.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { searchIn } from '../../request/request-path.ts';
import { type NodeFilter, nodeFilter } from '../../resources/nodes/platform-filter.ts';

export interface ListQuery extends NodeQuery {
  readonly filter: NodeFilter;
}

/** Clients choose the query strings, so what is remembered of them is bounded in number and in length. */
const MAX_REMEMBERED = 512;
const MAX_LENGTH = 2048;

/** A parameter that differs in each request; without it the rest is known. The decoder ignores any that this leaves. */
const CACHE_BUSTER = /(?:^|&)(?:_|t)=[^&]*/g;

export class PlatformQueries {
  readonly #decoder = newNodeQueryDecoder();
  readonly #domain: string;
  readonly #remembered = new BoundedMap<string, ListQuery>(MAX_REMEMBERED);

  /** `domain` is the platform's, for instance `platform.io`. */
  constructor(domain: string) {
    this.#domain = domain;
  }

  /** Throws BadRequest with every fault. */
  read(context: RequestContext): ListQuery {
    const search = searchIn(context.request.url ?? '').replace(CACHE_BUSTER, '');
    const known = this.#remembered.get(search);
    if (known) return known;
    const query = this.#decoder.decode(new URLSearchParams(search));
    const read: ListQuery = { ...query, filter: nodeFilter(query, this.#domain) };
    if (search.length <= MAX_LENGTH) this.#remembered.set(search, read);
    return read;
  }
}
