// Filter that redirects browsers from the address of the server to a page, where they would get a Status object as JSON.
import { acceptsHTML } from '../http/accept.ts';
import type { Exchange, Filter } from './exchange.ts';

/** The path of the page on the TLS listener, or on the other one. Undefined: no page. */
export type StartPage = (secure: boolean) => string | undefined;

export function startPage(pageOf: StartPage): Filter {
  return (exchange) => {
    const { info, request, secure } = exchange;
    if (info.isResourceRequest || info.path !== '/' || !['get', 'head'].includes(info.verb)) return undefined;
    const page = pageOf(secure);
    if (page === undefined || !acceptsHTML(request.headers.accept)) return undefined;
    return redirect(exchange, page);
  };
}

/** Returns a promise, because the chain would continue after a synchronous filter. */
async function redirect({ response }: Exchange, location: string): Promise<void> {
  response.writeHead(303, { Location: location, 'Content-Length': 0, 'Cache-Control': 'no-store' });
  response.end();
}
