// The node list of the platform paths, `/kapis/resources.<platform>.io/v1alpha3/nodes`, for consoles. Owns the
// answers; which nodes and in which order is resources/nodes' business, where they come from the cache's. The same
// nodes with Kubernetes semantics are served by endpoints/rest.
import { hash } from 'node:crypto';
import { newMethodNotAllowed, newNotFound, newPathNotFound } from '../../../apis/meta/v1/errors.ts';
import { QueryDecoder } from '../../../apis/meta/v1/query-decoder.ts';
import { NO_QUERY_SCHEMA, type NodeQuery } from '../../../apis/resources/v1alpha3/node-query.ts';
import { newNodeQueryDecoder } from '../../../apis/resources/v1alpha3/node-query-decoder.ts';
import type { CachedObject } from '../../cache/cached-object.ts';
import { ObjectFingerprints } from '../../cache/object-fingerprints.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
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
  /** `snapshot` throws ServiceUnavailable until the nodes are there; `epoch` counts the lists that filled the cache. */
  readonly cache: { snapshot(): ObjectSnapshot<NodeFacts>; readonly epoch: number };
  /** Annotations that every answer carries although nobody stored them. */
  readonly computed?: ComputedAnnotations;
}

/** Pages of at most this many nodes have a tag of their own, so that changes elsewhere leave it as it is. */
const MAX_TAGGED = 500;

/** Serves the paths that the chain has parsed into the group, version and resource of `definition`. */
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
    if (answeredUnchanged(context, tag)) return;
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

  /** Changes of a page are changes of its nodes or of their number. */
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
    if (answeredUnchanged(context, tag)) return;
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
    // A field selector may have given the parsed request a name too; the path decides.
    const name = info.parts[1];
    return name === undefined ? list(context) : get(context, name);
  };
}

const NEWLINE = Buffer.from('\n');

/** Throws NotAcceptable for a client that takes no JSON. */
function acceptJSON(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  negotiate(accept, (conversion) => conversion === undefined);
}

/** Weak: the same nodes, although the list's resourceVersion may have moved on, or the answer be compressed. */
function headersWith(tag: string): Headers {
  return { ...JSON_HEADERS, ETag: `W/${tag}` };
}

function answeredUnchanged({ request, response }: RequestContext, tag: string): boolean {
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
  /** Nodes on all pages together. */
  readonly total: number;
}

/** The page of `snapshot` that the query asks for. Costs about the page once the order is there. */
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

// The query strings of the node list, read once each: consoles ask the same again and again.
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
