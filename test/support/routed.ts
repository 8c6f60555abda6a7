// Connects handlers and routers, for tests of a part of the server.
import type { Request, Response, Router } from 'express';
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import type { FeatureRouters } from '../../server/app.ts';
import { endpoint, newRouter } from '../../server/http/endpoint.ts';
import type { Handler } from '../../server/request/request-context.ts';

/** The handler of all paths of a router. It resolves at the end of the response. */
export function routed(router: Router): Handler {
  return (context) => {
    const { request, response } = context;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    response.once('close', resolve);
    Object.assign(response, { locals: { context } });
    router(request as Request, response as Response, (error?: unknown) => reject(error ?? newPathNotFound()));
    return promise;
  };
}

/** The routers of a server with one feature. */
export function onlyFeature(router: Router): FeatureRouters {
  const none = newRouter();
  return {
    health: none,
    metrics: none,
    version: none,
    discovery: none,
    openAPI: none,
    description: none,
    explore: none,
    oauth: router,
  };
}

/** A router that has one handler for all paths and methods. */
export function everyPath(handle: Handler): Router {
  return newRouter().use(endpoint(handle));
}
