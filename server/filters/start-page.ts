// Filter that redirects browsers from the address of the server to a page, where they would get a Status object as JSON.
import { acceptsHTML } from '../http/accept.ts';
import type { Exchange, Filter } from './exchange.ts';

/** `page`: the path of the page. */
export function startPage(page: string): Filter {
  return (exchange) => {
    const { info, request } = exchange;
    if (info.isResourceRequest || info.path !== '/' || !['get', 'head'].includes(info.verb)) return undefined;
    return acceptsHTML(request.headers.accept) ? redirect(exchange, page) : undefined;
  };
}

/** Returns a promise, because the chain would continue after a synchronous filter. */
async function redirect({ response }: Exchange, location: string): Promise<void> {
  response.writeHead(303, { Location: location, 'Content-Length': 0, 'Cache-Control': 'no-store' });
  response.end();
}
