// Routes requests to handlers. Routing and authorization use the same RequestInfo of a resource request.
import { ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler } from 'express';
import { newPathNotFound } from '../apis/meta/v1/errors.ts';
import type { Handler, RequestContext } from './request/request-context.ts';
import type { ResourceRequest } from './request/request-info.ts';
import { pathIn } from './request/request-path.ts';
import type { ResourceRoute } from './request/resource-route.ts';

export interface Routes {
  readonly resources: readonly ResourceRoute[];
  /** Handlers by path, in Express's notation. A handler rejects methods that it does not support. */
  readonly paths: ReadonlyMap<string, Handler>;
}

interface Call {
  readonly context: RequestContext;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Returns the last handler of the filter chain. It throws NotFound for an unknown path. */
export function routes({ resources, paths }: Routes): Handler {
  const byResource = Map.groupBy(resources, ({ resource }) => resource);
  const find = (resource: string, { prefix, group, version }: ResourceRequest): Handler | undefined =>
    byResource
      .get(resource)
      ?.find((route) => route.prefix === prefix && route.group === group && route.version === version)
      ?.handler;
  const byPath = pathRouter(paths);
  return (context) => {
    const { info } = context;
    if (!info.isResourceRequest) return byPath(context);
    const handler = find(info.resource, info) ?? find('*', info);
    if (!handler) throw newPathNotFound();
    return handler(context);
  };
}

/**
 * Express only selects the handler, strictly: case and trailing slashes matter. Errors are thrown, because the filter
 * chain writes them.
 */
function pathRouter(paths: Routes['paths']): Handler {
  const calls = new WeakMap<object, Call>();
  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing');
  for (const [path, handler] of paths) {
    // Registers `all`, because Express would run a handler of `get` for HEAD too.
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
  // Paths without parameters bypass Express, which takes longer than the handler of a health check.
  const exact = new Map([...paths].filter(([path]) => !/[^\w/.-]/.test(path)));
  return (context) => {
    const handler = exact.get(pathIn(context.request.url ?? ''));
    if (handler) return handler(context);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.set(context.request, { context, resolve, reject });
    // Express replaces the prototype of the response, and would remove its default headers.
    app(context.request, new ServerResponse(context.request));
    return promise;
  };
}
