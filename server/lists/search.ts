// Search under `/kapis`: the best matches of a text in each kind. The results contain only objects that the caller may
// list.
import { newInvalidParameter, StatusError } from '../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../apis/meta/v1/query-decoder.ts';
import { SearchQuerySchema } from '../../apis/resources/v1alpha3/search-query.ts';
import { JSON_HEADERS } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { apiVersionOf, exactName, type Kind } from '../resources/kind.ts';
import { type Found, MATCHES } from '../resources/lists/text-search.ts';
import type { ObjectFacts } from '../resources/object-facts.ts';
import type { PlatformLists, ServedKinds } from './kind-lists.ts';
import { isScoped, type ListAccess } from './list-access.ts';

interface SearchOptions {
  readonly apiVersion: string;
  readonly kinds: ServedKinds & {
    /** The kinds that are followed and synced. */
    readonly followed: readonly Kind[];
  };
}

interface Group {
  readonly lists: PlatformLists;
  readonly best: readonly Found<ObjectFacts>[];
  readonly total: number;
  readonly partial: boolean;
}

export class Search {
  readonly #options: SearchOptions;
  readonly #decoder = new QueryDecoder(SearchQuerySchema);

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  async respond(context: RequestContext, access: ListAccess): Promise<void> {
    const { q, kinds: names, limit } = this.#decoder.decode(context.query);
    if (q === undefined)
      throw newInvalidParameter('q', 'the text to search for is missing', { reason: 'FieldValueRequired' });
    const isNamed = names !== undefined;
    const kinds = isNamed ? await this.#named(names, context) : this.#options.kinds.followed;
    const found = await Promise.all(
      kinds.map((kind) => this.#searched(context, access, kind, { q, limit, isNamed })),
    );
    const searched = kinds.filter((_, i) => isNamed || found[i]);
    const groups = found
      .filter((group) => group !== undefined)
      .filter(({ total }) => total > 0)
      .sort((a, b) => rankOf(a) - rankOf(b));
    const body = Buffer.from(
      `${JSON.stringify({
        kind: 'SearchResult',
        apiVersion: this.#options.apiVersion,
        kinds: searched.map(exactName),
        totalItems: groups.reduce((sum, { total }) => sum + total, 0),
        groups: groups.map(describe),
      })}\n`,
    );
    context.response.writeHead(200, { ...JSON_HEADERS, 'Content-Length': body.length });
    context.response.end(body);
  }

  async #named(names: readonly string[], context: RequestContext): Promise<readonly Kind[]> {
    const kinds: Kind[] = [];
    const unknown: string[] = [];
    for (const name of new Set(names)) {
      try {
        kinds.push(await this.#options.kinds.resolve(name, context));
      } catch (error) {
        if (!(error instanceof StatusError) || error.code >= 500) throw error;
        unknown.push(error.message);
      }
    }
    if (unknown.length > 0) throw newInvalidParameter('kinds', unknown.join('; '));
    return kinds;
  }

  /**
   * Returns the matches of a kind; undefined if the caller is not allowed to list it, or if it is not available and not
   * named in the query.
   */
  async #searched(
    context: RequestContext,
    access: ListAccess,
    kind: Kind,
    { q, limit, isNamed }: { readonly q: string; readonly limit: number; readonly isNamed: boolean },
  ): Promise<Group | undefined> {
    const scope = isScoped(kind)
      ? await access.scope(context, kind, undefined)
      : (await access.mayList(context, kind)) && ({ everything: true } as const);
    if (!scope || (!scope.everything && scope.namespaces.length === 0)) return undefined;
    const lists = await this.#listsOf(kind, context, isNamed);
    if (!lists) return undefined;
    return { lists, ...(await lists.search(q, scope, limit, context)), partial: !scope.everything };
  }

  async #listsOf(kind: Kind, context: RequestContext, isNamed: boolean): Promise<PlatformLists | undefined> {
    try {
      return await this.#options.kinds.lists(kind, context);
    } catch (error) {
      if (isNamed || !(error instanceof StatusError)) throw error;
      return undefined;
    }
  }
}

function rankOf({ best }: Group): number {
  return best[0] ? MATCHES.indexOf(best[0].match) : MATCHES.length;
}

function describe({ lists, best, total, partial }: Group): object {
  const { kind } = lists;
  return {
    resource: exactName(kind),
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    totalItems: total,
    ...(partial ? { partial } : {}),
    items: best.map(({ object, match }) => ({
      match,
      metadata: {
        name: object.name,
        ...(object.namespace === '' ? {} : { namespace: object.namespace }),
        uid: object.uid,
        creationTimestamp: timestampOf(object.facts.createdAt),
        selfLink: lists.link(object),
      },
      ...(object.facts.alias === '' ? {} : { alias: object.facts.alias }),
      ...(object.facts.status.length === 0 ? {} : { status: object.facts.status[0] }),
    })),
  };
}

/** Returns a time in seconds since the epoch as kube-apiserver writes it. */
function timestampOf(seconds: number): string {
  return seconds === 0 ? '' : new Date(seconds * 1000).toISOString().replace('.000', '');
}
