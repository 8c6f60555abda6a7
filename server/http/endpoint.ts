// Connects handlers with Express. Routers match strictly: case, trailing slashes and percent-encoding matter.
import express, { type RequestHandler, type Router } from 'express';
import { newMethodNotAllowed } from '../../apis/meta/v1/errors.ts';
import type { Handler, RequestContext } from '../request/request-context.ts';

/** An Express handler of this server. `Context` is the type of `response.locals.context`. */
export type Middleware<Context = RequestContext> = RequestHandler<
  object,
  unknown,
  unknown,
  unknown,
  { readonly context: Context }
>;

/**
 * A router, not an application of Express: an application replaces the prototypes of the request and the response, and with them
 * the default headers and the response to an upgrade.
 */
export function newRouter(): Router {
  return express.Router({ caseSensitive: true, strict: true });
}

/** Express handles errors that `handle` throws, and rejections of its promise. */
export function endpoint(handle: Handler): Middleware {
  return (_request, response) => handle(response.locals.context);
}

/** Rejects the methods that the route of a document has no handler for. Express serves HEAD by the handler of GET. */
export const readOnly: Middleware = (request, response) => {
  response.setHeader('Allow', 'GET, HEAD');
  throw newMethodNotAllowed(request.method);
};

/** Serves the address of a page with a slash at its end, as users type it: redirects to the page, with the query. */
export function redirectFromSlash(router: Router, page: string): void {
  const redirect: Middleware = ({ url }, response) => {
    const Location = page + url.slice(page.length + 1);
    response.writeHead(303, { Location, 'Content-Length': 0, 'Cache-Control': 'no-store' }).end();
  };
  router.route(`${page}/`).get(redirect).all(readOnly);
}
