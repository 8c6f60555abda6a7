// Handler of the node list for consoles, `/kapis/resources.<platform>.io/v1alpha3/nodes`: queries, pages and entity
// tags. NodeIndex sorts and filters the nodes. The handlers in endpoints/rest serve the same nodes with the list
// semantics of Kubernetes.
import { hash } from 'node:crypto';
import { newMethodNotAllowed, newNotFound, newPathNotFound } from '../../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../../apis/meta/v1/query-decoder.ts';
import { NO_QUERY_SCHEMA, type NodeQuery } from '../../../apis/resources/v1alpha3/node-query.ts';
import { newNodeQueryDecoder } from '../../../apis/resources/v1alpha3/node-query-decoder.ts';
import { ObjectFingerprints } from '../../cache/object-fingerprints.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { CachedObject } from '../../cache/resource-cache.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { hasQuery, searchIn } from '../../request/request-path.ts';
import type { NodeFacts } from '../../resources/nodes/node-facts.ts';
import { type NodeFilter, nodeFilter } from '../../resources/nodes/node-filter.ts';
import { NodeIndex } from '../../resources/nodes/node-index.ts';
import type { ResourceDefinition } from '../../resources/resource-definition.ts';
import { negotiate } from '../accept.ts';
import { JSON_HEADERS, matchesTag } from '../response.ts';
import { type Headers, PlatformPieces, writeNodes } from './platform-body.ts';
import { type ComputedAnnotations, PlatformItem } from './platform-item.ts';

export interface PlatformNodes {
  readonly definition: ResourceDefinition<NodeFacts>;
  /** The cache of nodes. `snapshot` throws ServiceUnavailable before the first list; `epoch` is the number of lists. */
  readonly cache: { snapshot(): ObjectSnapshot<NodeFacts>; readonly epoch: number };
  /** Annotations that are computed for each response and not stored in the cluster. */
  readonly computed?: ComputedAnnotations;
}

/**
 * Maximum number of nodes on a page whose entity tag is computed from its content, so that nodes on other pages do not
 * affect it. The tag of a longer page is that of all nodes.
 */
const MAX_TAGGED = 500;

/** Returns the handler for the group, version and resource of `definition`. */
export function platformNodes({ definition, cache, computed }: PlatformNodes): Handler {
  const { group, version, plural } = definition;
  const path = `/kapis/${group}/${version}/${plural}`;
  const queries = new PlatformQueries(group.slice(group.indexOf('.') + 1));
  const noQuery = new QueryDecoder(NO_QUERY_SCHEMA);
  const index = new NodeIndex();
  const states = new ObjectFingerprints();
  const item = new PlatformItem(path, states, computed);
  const pieces = new PlatformPieces(item);

  function list(context: RequestContext): Promise<void> | void {
    const query = queries.read(context);
    const snapshot = cache.snapshot();
    const page = pageOf(snapshot, index, query);
    const tag = `"${page.nodes.length > MAX_TAGGED ? tagOfAll(snapshot, page) : tagOf(page)}"`;
    if (respondedNotModified(context, tag)) return;
    const start = JSON.stringify({
      kind: definition.listKind,
      apiVersion: `${group}/${version}`,
      metadata: { resourceVersion: snapshot.resourceVersion },
    });
    const frame = {
      start: Buffer.from(`${start.slice(0, -1)},"items":[`),
      end: Buffer.from(`],"totalItems":${page.total}}\n`),
    };
    return writeNodes(context, headersWith(tag), frame, page.nodes, {
      item,
      pieces: () => pieces.of(page.nodes, cache.epoch),
    });
  }

  /** Returns the entity tag of a page. It depends on the nodes of the page and on the total. */
  function tagOf({ nodes, total }: PlatformPage): string {
    return hash('sha256', `${total} ${nodes.map((node) => item.state(node)).join()}`, 'base64url');
  }

  function tagOfAll(snapshot: ObjectSnapshot<NodeFacts>, page: PlatformPage): string {
    return computed ? tagOf(page) : states.ofAll(snapshot);
  }

  function get(context: RequestContext, name: string): void {
    if (hasQuery(context.request)) noQuery.decode(context.query);
    const node = cache.snapshot().get(name);
    if (!node) throw newNotFound({ group, resource: plural }, name);
    const tag = `"${hash('sha256', item.state(node), 'base64url')}"`;
    if (respondedNotModified(context, tag)) return;
    const body = Buffer.concat([...item.parts(node), NEWLINE]);
    context.response.writeHead(200, { ...headersWith(tag), 'Content-Length': body.length });
    context.response.end(body);
  }

  return (context) => {
    const { info, request, response } = context;
    if (!info.isResourceRequest || info.namespace !== '' || info.parts.length > 2) throw newPathNotFound();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw newMethodNotAllowed(request.method ?? '', { group, resource: plural });
    }
    acceptJSON(request.headers.accept);
    // Uses the path, because a field selector can also set the name of the RequestInfo.
    const name = info.parts[1];
    return name === undefined ? list(context) : get(context, name);
  };
}

const NEWLINE = Buffer.from('\n');

/** Throws NotAcceptable for a client that does not accept JSON. */
function acceptJSON(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  negotiate(accept, (conversion) => conversion === undefined);
}

/** The tag is weak, because equal nodes can have a different resourceVersion of the list or a different encoding. */
function headersWith(tag: string): Headers {
  return { ...JSON_HEADERS, ETag: `W/${tag}` };
}

function respondedNotModified({ request, response }: RequestContext, tag: string): boolean {
  if (!matchesTag(request.headers['if-none-match'], tag)) return false;
  response.writeHead(304, {
    'Cache-Control': JSON_HEADERS['Cache-Control'],
    Vary: JSON_HEADERS.Vary,
    ETag: `W/${tag}`,
  });
  response.end();
  return true;
}

export interface PlatformPage {
  readonly nodes: readonly CachedObject<NodeFacts>[];
  /** Number of nodes on all pages. */
  readonly total: number;
}

/** Returns the requested page of `snapshot`. The time is proportional to the page if the index has the selection. */
export function pageOf(
  snapshot: ObjectSnapshot<NodeFacts>,
  index: NodeIndex,
  query: ListQuery,
): PlatformPage {
  const sorted = index.sorted(snapshot, query.sortBy, query.filter);
  const total = sorted.length;
  const limit = query.limit < 0 ? total : query.limit;
  const first = (query.page - 1) * limit;
  const nodes: CachedObject<NodeFacts>[] = [];
  for (let i = first; i < Math.min(first + limit, total); i++) {
    const identity = sorted[query.ascending ? i : total - 1 - i];
    const node = identity && snapshot.get(identity.key);
    if (node) nodes.push(node);
  }
  return { nodes, total };
}

export interface ListQuery extends NodeQuery {
  readonly filter: NodeFilter;
}

/** Maximum number of cached queries. The cache is bounded because clients choose the query strings. */
const MAX_CACHED = 512;
const MAX_LENGTH = 2048;

/** Cache-busting parameters, which differ in each request. They are removed from the cache key of a query. */
const CACHE_BUSTER = /(?:^|&)(?:_|t)=[^&]*/g;

export class PlatformQueries {
  readonly #decoder = newNodeQueryDecoder();
  readonly #domain: string;
  readonly #cached = new BoundedMap<string, ListQuery>(MAX_CACHED);

  /** `domain`: of the platform, for instance `platform.io`. */
  constructor(domain: string) {
    this.#domain = domain;
  }

  /** Throws BadRequest with all validation errors. */
  read(context: RequestContext): ListQuery {
    const search = searchIn(context.request.url ?? '').replace(CACHE_BUSTER, '');
    const known = this.#cached.get(search);
    if (known) return known;
    const query = this.#decoder.decode(new URLSearchParams(search));
    const read: ListQuery = { ...query, filter: nodeFilter(query, this.#domain) };
    if (search.length <= MAX_LENGTH) this.#cached.set(search, read);
    return read;
  }
}
