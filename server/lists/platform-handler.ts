// HTTP handler of lists, objects, live lists and search under `/kapis/resources.<platform>.io/v1alpha3`. list-access.ts
// checks whether the caller may list or get the kind.
import type { IncomingMessage } from 'node:http';
import {
  newBadRequest,
  newMethodNotAllowed,
  newPathNotFound,
  newResourceNotFound,
} from '../../apis/meta/v1/errors.ts';
import type { CallerScope } from '../authorization/namespace-scopes.ts';
import { TimeSlicer } from '../concurrency/time-slicer.ts';
import { acceptsEvents, negotiate } from '../http/accept.ts';
import type { Handler } from '../request/request-context.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import { exactName, type Kind } from '../resources/kind.ts';
import type { ListScope, PlatformLists, ServedKinds } from './kind-lists.ts';
import type { ListAccess } from './list-access.ts';
import { type LiveOptions, writeLive } from './live-list.ts';
import type { Search } from './search.ts';
import type { ServiceSelectors } from './service-selectors.ts';

interface PlatformHandlerOptions {
  readonly group: string;
  readonly kinds: ServedKinds;
  readonly access: ListAccess;
  readonly live: LiveOptions;
  readonly search: Search;
  readonly services: Pick<ServiceSelectors, 'labels'>;
}

/** The resource of the search in paths. */
const SEARCH = 'search';

function isSearch({ resource, namespace, parts }: ResourceRequest): boolean {
  return resource === SEARCH && namespace === '' && parts.length === 1;
}

/** Returns true for a live list. Only lists are available as events. */
export function isLive(
  info: ResourceRequest,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): boolean {
  const isList = info.parts.length === 1 && !isSearch(info) && (method === 'GET' || method === 'HEAD');
  return isList && acceptsEvents(headers.accept);
}

export function platformHandler(options: PlatformHandlerOptions): Handler {
  const { access } = options;
  // Of their own, so that other lists do not wait behind a thousand live lists.
  const liveSlicer = new TimeSlicer();
  return async (context) => {
    const { info, request, response } = context;
    if (!info.isResourceRequest || info.parts.length > 2) throw newPathNotFound();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      throw newMethodNotAllowed(request.method ?? '', { group: options.group, resource: info.resource });
    }
    const asEvents = isLive(info, request);
    if (!asEvents) acceptJSON(request.headers.accept);
    if (isSearch(info)) return options.search.respond(context, access);
    const kind = await options.kinds.resolve(info.resource, context);
    const target = targetOf(kind, info);
    if (target.name !== undefined) {
      await access.checkGet(context, kind, target.namespace, target.name);
      const lists = await options.kinds.lists(kind, context);
      const key = target.namespace === '' ? target.name : `${target.namespace}/${target.name}`;
      return lists.get(context, key, target.name);
    }
    const { namespace } = target;
    const pathScope = (): Promise<CallerScope> => access.pathScope(context, kind, namespace);
    // The permission for the path is checked before the kind is followed, and the namespaces of the query after it is read.
    const before = await pathScope();
    const followed = options.kinds.lists(kind, context);
    const lists = await followed;
    const { namespaces: selected, service } = lists.read(context);
    const scope = async (path: CallerScope): Promise<ListScope> => {
      const listed = await access.listScope(context, kind, { namespace, path, selected });
      if (service === undefined) return listed;
      const labels = await options.services.labels(context, namespace, service);
      return labels ? { ...listed, labels } : { ...listed, namespaces: [] };
    };
    // A namespace can be recreated while the request waits for the first list of the kind.
    if (!asEvents)
      return lists.list(context, await scope(followed instanceof Promise ? await pathScope() : before));
    // By the exact name, because the permissions are those of this kind: later, the plural can be the name of another one.
    const current = async (): Promise<PlatformLists> => {
      await options.kinds.resolve(exactName(kind), context);
      return options.kinds.lists(kind, context);
    };
    const currentScope = async (): Promise<ListScope> => scope(await pathScope());
    return writeLive(context, { lists: current, scope: currentScope }, options.live, liveSlicer);
  };
}

interface Target {
  /** Empty for all namespaces, and for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string | undefined;
}

/** Throws for a path that does not fit the scope of the kind. */
function targetOf(kind: Kind, { namespace, resource, parts }: ResourceRequest): Target {
  const name = parts[1];
  // The path of one namespace also sets the namespace of the RequestInfo.
  const inNamespace = resource === 'namespaces' && namespace === name ? '' : namespace;
  if (!kind.namespaced) {
    if (inNamespace !== '')
      throw newResourceNotFound(resource, `${exactName(kind)} are not namespaced: use ${parts.join('/')}`);
    return { namespace: '', name };
  }
  if (name !== undefined && inNamespace === '') {
    throw newBadRequest(`${exactName(kind)} are namespaced: use namespaces/NAMESPACE/${resource}/${name}`);
  }
  return { namespace: inNamespace, name };
}

/** Throws NotAcceptable for a client that does not accept JSON. */
function acceptJSON(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  negotiate(accept, (conversion) => conversion === undefined);
}
