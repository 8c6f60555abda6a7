// Reverse proxy: forwards a request to kube-apiserver and the response to the client, byte by byte and without
// buffering. It follows no redirect, and repeats only a GET whose reused connection was stale.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { setDefaultHeaders } from '../request/api-response.ts';
import type { ProxiedContext } from '../request/gateway-route.ts';
import { hasBody } from '../request/request-body.ts';
import { framing } from './forwarded-headers.ts';
import { reasonOf, responseHeaders } from './response-headers.ts';
import { type Forwarding, openUpstream, StaleConnectionError, upstreamResponse } from './upstream-request.ts';

/** Sends the request, and returns the response with an unread body. Throws as `upstreamResponse` does. */
export async function send(context: ProxiedContext, forwarding: Forwarding): Promise<IncomingMessage> {
  const { request } = context;
  const body = hasBody(request);
  const repeatable = !body && (request.method === 'GET' || request.method === 'HEAD');
  forwarding.headers.push(...framing(request));
  for (;;) {
    const outgoing = openUpstream(context, forwarding, forwarding.target.pool);
    const pending = upstreamResponse(outgoing, forwarding.target, context);
    if (body) {
      limitBody(request, outgoing, context.maxBodyBytes);
      copyBody(request, outgoing);
    } else outgoing.end();
    try {
      const { response } = await pending;
      return response;
    } catch (error) {
      if (!repeatable || !(error instanceof StaleConnectionError) || context.abortReason !== undefined)
        throw error;
    }
  }
}

/**
 * Copies the response to the client. Resolves at the end of the response, or when the client disconnects. If kube-apiserver
 * ends the response early, the connection of the client is destroyed. If this server stops, a watch ends between two events.
 */
export function respond(context: ProxiedContext, upstream: IncomingMessage): Promise<void> {
  const { request, response } = context;
  // The client has disconnected while the gateway looked for the cause of a 401.
  if (response.destroyed) {
    upstream.destroy();
    return Promise.resolve();
  }
  setDefaultHeaders(response, []);
  // Node must not parse the rest of an unread body as the next request.
  if (!request.complete && hasBody(request)) response.shouldKeepAlive = false;
  const headers = responseHeaders(upstream, context);
  // These headers replace the previous ones, also the `Vary` of the CORS filter.
  const vary = response.getHeader('Vary');
  if (typeof vary === 'string') headers.push('Vary', vary);
  response.writeHead(upstream.statusCode ?? 502, reasonOf(upstream), headers);
  const body = copyBody(upstream, response);
  const isWatch = context.info.verb === 'watch' && upstream.statusCode === 200 && hasJSONLines(upstream);
  // `close` follows.
  upstream.on('error', () => undefined);
  upstream.on('close', () => {
    if (upstream.complete || response.destroyed) return;
    if (isWatch && context.abortReason !== undefined && body.atLineEnd()) body.end();
    else response.destroy();
  });
  return new Promise((resolve) =>
    response.on('close', () => {
      upstream.destroy();
      resolve();
    }),
  );
}

/** Each line is an event of a watch. */
function hasJSONLines({ headers }: IncomingMessage): boolean {
  return (
    headers['content-encoding'] === undefined && !!headers['content-type']?.startsWith('application/json')
  );
}

/** Ends the request to kube-apiserver when a chunked body exceeds the limit. */
function limitBody(request: IncomingMessage, outgoing: ClientRequest, maxBytes: number): void {
  let size = 0;
  request.on('data', (part: Buffer) => {
    size += part.length;
    if (size > maxBytes && !outgoing.destroyed) outgoing.destroy(newRequestEntityTooLarge(maxBytes));
  });
}

interface CopiedBody {
  /** Returns true if the last byte was a newline, or no byte has arrived. */
  atLineEnd(): boolean;
  /** Ends the copy after the bytes that have arrived. */
  end(): void;
}

const NEWLINE = 0x0a;

/**
 * Copies a body with backpressure. The bytes that arrive in one iteration of the event loop are written together, because each
 * write costs a TLS record and a system call. The first write contains the headers. After the end of `to`, the rest is discarded.
 */
function copyBody(from: IncomingMessage, to: ClientRequest | ServerResponse): CopiedBody {
  let last = NEWLINE;
  let parts: Buffer[] = [];
  const take = (): Buffer | undefined => {
    const bytes = parts.length > 1 ? Buffer.concat(parts) : parts[0];
    parts = [];
    return bytes;
  };
  const write = (): void => {
    scheduled = undefined;
    const bytes = take();
    if (to.destroyed) return;
    // The body is late, as in a watch without events. `flushHeaders` would encode the bytes of the headers as UTF-8 again.
    if (to.write(bytes ?? '', 'latin1')) return;
    from.pause();
    to.once('drain', () => from.resume());
  };
  let scheduled: NodeJS.Immediate | undefined = setImmediate(write);
  from.on('data', (part: Buffer) => {
    parts.push(part);
    last = part.at(-1) ?? last;
    scheduled ??= setImmediate(write);
  });
  const end = (): void => {
    clearImmediate(scheduled);
    to.end(take());
  };
  from.on('end', end);
  return { atLineEnd: () => last === NEWLINE, end };
}
