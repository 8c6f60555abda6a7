// The REST verbs of one resource: decode, call, encode. Owns which verb and which form of the answer is wanted;
// what a verb does is in the file of that name, where objects come from is the cache's business.
import { newMethodNotAllowed, newPathNotFound } from '../../../apis/meta/v1/errors.ts';
import { parseStrictBoolean } from '../../../apis/reading/go-number.ts';
import type { ResourceCache } from '../../cache/resource-cache.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import type { ResourceRequest } from '../../request/request-info.ts';
import { hasQuery } from '../../request/request-path.ts';
import type { ResourceDefinition } from '../../resources/resource-definition.ts';
import type { MediaType } from '../accept.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { Negotiator, type ReadVerb } from './negotiator.ts';
import { Objects } from './representations/objects.ts';
import { PartialMetadata } from './representations/partial-metadata.ts';
import type { Representation } from './representations/representation.ts';
import { RowFrames } from './representations/row-frames.ts';
import { readIncludeObject, Tables } from './representations/tables.ts';
import { ChunkEncoder } from './watch/chunked-output.ts';
import { InitialEventsBudget } from './watch/initial-events-budget.ts';
import { type WatchOptions, watch } from './watch/watch.ts';

export interface ResourceHandlerOptions {
  readonly now: () => Date;
  readonly watch: WatchOptions;
}

export const DEFAULT_OPTIONS: ResourceHandlerOptions = {
  now: () => new Date(),
  watch: {
    bookmarkIntervalMs: 60_000,
    lastBookmarkMs: 2000,
    minTimeoutSeconds: 1800,
    maxTimeoutSeconds: 3600,
    maxPendingBytes: 16 * 1024 * 1024,
    stallTimeoutMs: 60_000,
    random: Math.random,
    maxInitialBytes: 16 * 1024 * 1024,
  },
};

/** Serves the paths that the chain has parsed into this resource's group, version and name. */
export function resourceHandler<Facts>(
  definition: ResourceDefinition<Facts>,
  cache: ResourceCache<Facts>,
  options: ResourceHandlerOptions = DEFAULT_OPTIONS,
): Handler {
  const objects = new Objects(definition);
  const negotiator = new Negotiator();
  const chunks = new ChunkEncoder();
  const rowFrames = new RowFrames<Facts>();
  const initialEvents = new InitialEventsBudget(options.watch.maxInitialBytes);

  function represented(context: RequestContext, { conversion }: MediaType): Representation<Facts> {
    if (!conversion) return objects;
    const apiVersion = conversion.version === 'v1' ? 'meta.k8s.io/v1' : 'meta.k8s.io/v1beta1';
    if (conversion.kind !== 'Table') return new PartialMetadata(apiVersion);
    return new Tables(definition, apiVersion, readIncludeObject(context.query), options.now, rowFrames);
  }

  return (context) => {
    const { info } = context;
    const verb = verbOf(context, definition);
    if (!info.isResourceRequest || verb === undefined) throw newPathNotFound();
    const media = negotiator.negotiate(context.request.headers.accept, verb);
    const representation = represented(context, media);
    const { namespace, name } = info;
    if (verb === 'watch') {
      return watch(context, {
        definition,
        cache,
        representation,
        chunks,
        initialEvents,
        namespace,
        options: options.watch,
      });
    }
    const pretty = media.pretty || wantsPretty(context);
    if (verb === 'get') return get(context, { definition, cache, representation, pretty, namespace, name });
    return list(context, { definition, cache, representation, pretty, namespace });
  };
}

function wantsPretty(context: RequestContext): boolean {
  return hasQuery(context.request) && parseStrictBoolean(context.query.get('pretty') ?? '');
}

/** What the caller was authorized for. Throws MethodNotAllowed for anything but a read. */
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
  if (!definition.namespaced) return info.namespace === '';
  // One object of a namespaced resource is only found by its namespace.
  return info.parts.length === 1 || info.namespace !== '';
}
