// Handler of all requests for one resource. The handler selects the verb (get.ts, list.ts, watch.ts) and the
// representation.
import { LRUCache } from 'lru-cache';
import { newMethodNotAllowed, newPathNotFound } from '../../apis/meta/v1/errors.ts';
import { parseBoolean } from '../../apis/reading/go-number.ts';
import type { ResourceCache } from '../cache/resource-cache.ts';
import { TimeSlicer } from '../concurrency/time-slicer.ts';
import { type Conversion, type MediaType, negotiate, PLAIN_JSON } from '../http/accept.ts';
import { type BodyHeaders, JSON_HEADERS } from '../http/response-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import { hasQuery } from '../request/request-path.ts';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { Objects, PartialMetadata, type Representation } from './representation.ts';
import { readIncludeObject, Tables } from './tables.ts';
import { type WatchOptions, watch } from './watch.ts';
import { WatchLines } from './watch-lines.ts';
import { ChunkEncoder } from './watch-output.ts';
import { InitialEventsBudget } from './watch-session.ts';

interface ResourceHandlerOptions {
  readonly now: () => Date;
  readonly watch: WatchOptions;
  readonly headers: BodyHeaders;
  /** See ListRequest and WatchRequest. */
  readonly forwardable: boolean;
  /** Resolves when the cache is current, for reads without a resourceVersion. By default, they may lag behind by milliseconds. */
  readonly current?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Shared with other handlers; one of its own by default. */
  readonly slicer?: TimeSlicer;
}

export const DEFAULT_OPTIONS: ResourceHandlerOptions = {
  now: () => new Date(),
  headers: JSON_HEADERS,
  forwardable: false,
  watch: {
    // The interval of kube-apiserver.
    bookmarkIntervalMs: 60_000,
    lastBookmarkMs: 2000,
    // A watch without `timeoutSeconds` ends after this time, or up to twice as long, as at kube-apiserver.
    minTimeoutSeconds: 1800,
    maxTimeoutSeconds: 3600,
    // The events that wait for one client to read them, and how long the client may read nothing: 16 MiB are about two
    // thousand large nodes, and a client that pauses for a minute relists anyway.
    maxPendingBytes: 16 * 1024 * 1024,
    stallTimeoutMs: 60_000,
    random: Math.random,
    maxInitialBytes: 16 * 1024 * 1024,
  },
};

/** A handler. `ending`: see WatchRequest. */
export type ResourceHandler = (context: RequestContext, ending?: AbortSignal) => Promise<void> | void;

/** Returns the handler for the group, version and resource of `definition`. `cache` provides the objects. */
export function resourceHandler<Facts>(
  definition: ResourceDefinition<Facts>,
  cache: ResourceCache<Facts>,
  options: ResourceHandlerOptions = DEFAULT_OPTIONS,
): ResourceHandler {
  const { headers, forwardable, current, slicer = new TimeSlicer() } = options;
  const objects = new Objects(definition);
  const negotiator = new Negotiator();
  const chunks = new ChunkEncoder();
  const tableLines = new WatchLines<Facts>();
  const initialEvents = new InitialEventsBudget(options.watch.maxInitialBytes);

  function represented(context: RequestContext, { conversion }: MediaType): Representation<Facts> {
    if (!conversion) return objects;
    const apiVersion = conversion.version === 'v1' ? 'meta.k8s.io/v1' : 'meta.k8s.io/v1beta1';
    if (conversion.kind !== 'Table') return new PartialMetadata(apiVersion);
    return new Tables(definition, apiVersion, readIncludeObject(context.query), options.now, tableLines);
  }

  return (context, ending) => {
    const { info } = context;
    const verb = verbOf(context, definition);
    if (!info.isResourceRequest || verb === undefined) throw newPathNotFound();
    const media = negotiator.negotiate(context.request.headers.accept, verb);
    const representation = represented(context, media);
    const { name } = info;
    const namespace = definition.namespaced ? info.namespace : '';
    if (verb === 'watch') {
      return watch(context, {
        definition,
        cache,
        representation,
        chunks,
        initialEvents,
        namespace,
        options: options.watch,
        slicer,
        headers,
        forwardable,
        ending,
      });
    }
    const pretty = media.pretty || wantsPretty(context);
    if (verb === 'get')
      return get(context, { definition, cache, representation, pretty, namespace, name, headers, current });
    return list(context, {
      definition,
      cache,
      representation,
      pretty,
      namespace,
      headers,
      slicer,
      forwardable,
      current,
    });
  };
}

function wantsPretty(context: RequestContext): boolean {
  return hasQuery(context.request) && parseBoolean(context.query.get('pretty') ?? '') === true;
}

/**
 * Returns the authorized verb, undefined for an unknown path. Throws MethodNotAllowed for any method but GET and HEAD.
 */
function verbOf<Facts>(context: RequestContext, definition: ResourceDefinition<Facts>): ReadVerb | undefined {
  const { info, request, response } = context;
  if (!info.isResourceRequest || !pathFits(info, definition)) return undefined;
  const { verb } = info;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && (verb === 'get' || verb === 'list' || verb === 'watch')) return verb;
  response.setHeader('Allow', 'GET, HEAD');
  throw newMethodNotAllowed(request.method ?? '', { group: definition.group, resource: definition.plural });
}

function pathFits<Facts>(info: ResourceRequest, definition: ResourceDefinition<Facts>): boolean {
  if (info.subresource !== '' || info.parts.length < 1 || info.parts.length > 2) return false;
  // The path of a namespace contains its name as the namespace.
  if (!definition.namespaced) return info.namespace === '' || info.resource === 'namespaces';
  // The path of a single object of a namespaced resource contains the namespace.
  return info.parts.length === 1 || info.namespace !== '';
}

type ReadVerb = 'get' | 'list' | 'watch';

/** Limits of the cache of Accept headers, in entries and characters. Clients choose these headers. */
const MAX_CACHED = 64;
const MAX_LENGTH = 1024;

const KINDS: Readonly<Record<ReadVerb, readonly string[]>> = {
  get: ['Table', 'PartialObjectMetadata'],
  list: ['Table', 'PartialObjectMetadataList'],
  watch: ['Table', 'PartialObjectMetadata'],
};

function allowed(verb: ReadVerb, conversion: Conversion | undefined): boolean {
  if (!conversion) return true;
  const { kind, group, version } = conversion;
  return group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1') && KINDS[verb].includes(kind);
}

class Negotiator {
  readonly #cache: Readonly<Record<ReadVerb, LRUCache<string, MediaType>>> = {
    get: new LRUCache({ max: MAX_CACHED }),
    list: new LRUCache({ max: MAX_CACHED }),
    watch: new LRUCache({ max: MAX_CACHED }),
  };

  /** Returns the media type for an Accept header. Throws NotAcceptable if the client accepts no supported one. */
  negotiate(header: string | undefined, verb: ReadVerb): MediaType {
    if (header === undefined || header === '') return PLAIN_JSON;
    const cached = this.#cache[verb];
    const known = cached.get(header);
    if (known) return known;
    const media = negotiate(header, (conversion) => allowed(verb, conversion));
    if (header.length <= MAX_LENGTH) cached.set(header, media);
    return media;
  }
}
