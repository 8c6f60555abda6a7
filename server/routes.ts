// Which handler answers which path. Resources are found by the parsed request info, which authorization has read too;
// all other paths by Express's router, told to be strict about case and trailing slashes.
import express, { type ErrorRequestHandler } from 'express';
import { newPathNotFound } from '../apis/meta/v1/errors.ts';
import type { KnownResource } from './filters/request-counting.ts';
import type { Handler, RequestContext } from './request/request-context.ts';
import type { ResourceRequest } from './request/request-info.ts';
import { pathIn } from './request/request-path.ts';

export interface ResourceRoute {
  readonly prefix: ResourceRequest['prefix'];
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** What the handler serves besides the resource itself; metrics name these and no others. */
  readonly subresources?: readonly string[];
  readonly handler: Handler;
}

export interface Routes {
  readonly resources: readonly ResourceRoute[];
  /** Handlers by path in Express's notation; each of them decides which methods it serves. */
  readonly paths: ReadonlyMap<string, Handler>;
}

/** Whether there is such a resource, or subresource (empty for none): only these are named in metrics. */
export function knownResources(resources: readonly ResourceRoute[]): KnownResource {
  const known = new Set(
    resources.flatMap(({ group, version, resource, subresources = [] }) =>
      ['', ...subresources].map((subresource) => `${group}/${version}/${resource}/${subresource}`),
    ),
  );
  return (...names) => known.has(names.join('/'));
}

type Found = Pick<ResourceRequest, 'prefix' | 'group' | 'version' | 'resource'>;

interface Pending {
  readonly context: RequestContext;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The end of the filter chain. Throws NotFound for a path that nobody serves. */
export function routes({ resources, paths }: Routes): Handler {
  const byResource = new Map(resources.map((route) => [resourceKey(route), route.handler]));
  const byPath = pathRouter(paths);
  return (context) => {
    const { info } = context;
    if (!info.isResourceRequest) return byPath(context);
    const handler = byResource.get(resourceKey(info));
    if (!handler) throw newPathNotFound();
    return handler(context);
  };
}

/** Express finds the handler and nothing more: errors go back to the chain, which writes them. */
function pathRouter(paths: Routes['paths']): Handler {
  const pending = new WeakMap<object, Pending>();
  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing');
  for (const [path, handler] of paths) {
    // `all`, because Express would run a handler of `get` for HEAD too.
    app.all(path, async (request) => {
      const call = pending.get(request);
      if (!call) return;
      await handler(call.context);
      call.resolve();
    });
  }
  app.use((request) => pending.get(request)?.reject(newPathNotFound()));
  const failed: ErrorRequestHandler = (error, request, _response, _next) => {
    pending.get(request)?.reject(error);
  };
  app.use(failed);
  // Most paths have no parameters, and Express costs more than the handler of a health check.
  const exact = new Map([...paths].filter(([path]) => !/[^\w/.-]/.test(path)));
  return (context) => {
    const handler = exact.get(pathIn(context.request.url ?? ''));
    if (handler) return handler(context);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    pending.set(context.request, { context, resolve, reject });
    app(context.request, context.response);
    return promise;
  };
}

function resourceKey({ prefix, group, version, resource }: Found): string {
  return `${prefix}/${group}/${version}/${resource}`;
}
