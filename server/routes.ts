// Routes a request to its handler. Resources are found by the RequestInfo that authorization has used too; other
// paths by Express's router, strict about case and trailing slashes.
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
  /** Subresources of the handler. Metrics have labels for these and no others. */
  readonly subresources?: readonly string[];
  readonly handler: Handler;
}

export interface Routes {
  readonly resources: readonly ResourceRoute[];
  /** Handlers by path in Express's notation; each decides which methods it serves. */
  readonly paths: ReadonlyMap<string, Handler>;
}

/**
 * Returns a function that tells whether a resource or subresource (empty for none) exists. Metrics have labels for
 * existing ones only.
 */
export function knownResources(resources: readonly ResourceRoute[]): KnownResource {
  const known = new Set(
    resources.flatMap(({ group, version, resource, subresources = [] }) =>
      ['', ...subresources].map((subresource) => `${group}/${version}/${resource}/${subresource}`),
    ),
  );
  return (...names) => known.has(names.join('/'));
}

type Found = Pick<ResourceRequest, 'prefix' | 'group' | 'version' | 'resource'>;

interface Call {
  readonly context: RequestContext;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The last link of the filter chain. Throws NotFound for an unknown path. */
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

/** Express selects the handler only: errors return to the chain, which writes them. */
function pathRouter(paths: Routes['paths']): Handler {
  const calls = new WeakMap<object, Call>();
  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing');
  for (const [path, handler] of paths) {
    // `all`, because Express runs handlers of `get` for HEAD too.
    app.all(path, async (request) => {
      const call = calls.get(request);
      if (!call) return;
      await handler(call.context);
      call.resolve();
    });
  }
  app.use((request) => calls.get(request)?.reject(newPathNotFound()));
  const failed: ErrorRequestHandler = (error, request, _response, _next) => {
    calls.get(request)?.reject(error);
  };
  app.use(failed);
  // Most paths have no parameters, and Express costs more than the handler of a health check.
  const exact = new Map([...paths].filter(([path]) => !/[^\w/.-]/.test(path)));
  return (context) => {
    const handler = exact.get(pathIn(context.request.url ?? ''));
    if (handler) return handler(context);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.set(context.request, { context, resolve, reject });
    app(context.request, context.response);
    return promise;
  };
}

function resourceKey({ prefix, group, version, resource }: Found): string {
  return `${prefix}/${group}/${version}/${resource}`;
}
