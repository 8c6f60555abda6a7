// Reverse proxy: forwards a request to kube-apiserver and the response to the client, byte by byte and without
// buffering. It follows no redirect, and repeats only a GET or HEAD whose reused connection was stale.
import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { setDefaultHeaders } from '../http/api-response.ts';
import { hasBody } from '../http/request-body.ts';
import type { ProxiedContext } from '../request/gateway-route.ts';
import { send } from '../upstream/send.ts';
import type { UpstreamResponse } from '../upstream/upstream-response.ts';
import { isPlainJSON, reasonOf, responseHeaders } from './response-headers.ts';
import { type Forwarding, upstreamError } from './upstream-error.ts';
import type { BodyObserver } from './written-object.ts';

/** Sends the request, and returns the response with an unread body. Throws as `upstreamError` says, or the reason of an abort. */
export async function forward(
  context: ProxiedContext,
  { target, headers, caller }: Forwarding,
): Promise<UpstreamResponse> {
  const { request, maxBodyBytes } = context;
  const { method = 'GET', url = '' } = request;
  const body = hasBody(request) ? await bodyOf(request, maxBodyBytes) : undefined;
  const length = request.headers['content-length'];
  if (body && length !== undefined) headers.push('Content-Length', length);
  return send(target.pool, {
    method,
    path: target.endpoint.basePath + url,
    headers,
    body,
    isRead: !body && (method === 'GET' || method === 'HEAD'),
    crowd: caller,
    work: context,
    connectMs: target.connectTimeoutMs,
    errorOf: upstreamError(target),
  });
}

/** Returns the body as one buffer if it has arrived, so that it is written together with the headers; else as a stream. */
function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | Readable>();
  const parts: Buffer[] = [];
  const take = (part: Buffer): void => void parts.push(part);
  const end = (): void => {
    clearImmediate(late);
    const body = Buffer.concat(parts);
    if (body.length > maxBytes) reject(newRequestEntityTooLarge(maxBytes));
    else resolve(body);
  };
  request.on('data', take).once('end', end);
  const late = setImmediate(() => {
    request.off('data', take).off('end', end).pause();
    resolve(streamOf(parts, request, maxBytes));
  });
  return promise;
}

/** Fails when a chunked body exceeds the limit. After the end of the stream, the rest of the request is discarded. */
function streamOf(parts: readonly Buffer[], request: IncomingMessage, maxBytes: number): Readable {
  let size = 0;
  const stream = new Transform({
    transform(part: Buffer, _encoding, transformed) {
      size += part.length;
      if (size > maxBytes) transformed(newRequestEntityTooLarge(maxBytes));
      else transformed(null, part);
    },
  });
  stream.on('error', () => undefined).once('close', () => request.resume());
  for (const part of parts) stream.write(part);
  return request.pipe(stream);
}

/**
 * Copies the response to the client. Resolves at the end of the response, or when the client disconnects. If kube-apiserver
 * ends the response early, the connection of the client is destroyed. If this server stops, a watch ends between two events.
 */
export function respond(
  context: ProxiedContext,
  upstream: UpstreamResponse,
  observer?: BodyObserver,
): Promise<void> {
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
  response.writeHead(upstream.statusCode, reasonOf(upstream), headers);
  copyBody(context, upstream, observer);
  return new Promise((resolve) =>
    response.on('close', () => {
      upstream.destroy();
      resolve();
    }),
  );
}

const NEWLINE = 0x0a;

/**
 * Copies a body with backpressure. The bytes that arrive in one iteration of the event loop are written together, because each
 * write costs a TLS record and a system call. The first write contains the headers.
 */
function copyBody(context: ProxiedContext, upstream: UpstreamResponse, observer?: BodyObserver): void {
  const { response } = context;
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
    if (response.destroyed) return;
    // The body is late, as in a watch without events. `flushHeaders` would encode the bytes of the headers as UTF-8 again.
    if (response.write(bytes ?? '', 'latin1')) return;
    upstream.pause();
    response.once('drain', () => upstream.resume());
  };
  const end = (): void => {
    clearImmediate(scheduled);
    response.end(take());
  };
  let scheduled: NodeJS.Immediate | undefined = setImmediate(write);
  upstream.read({
    data: (part) => {
      observer?.data(part);
      parts.push(part);
      last = part.at(-1) ?? last;
      scheduled ??= setImmediate(write);
    },
    ended: () => {
      observer?.ended();
      end();
    },
    failed: () => {
      if (context.abortReason !== undefined && last === NEWLINE && isWatch(context, upstream)) end();
      else response.destroy();
    },
  });
}

/** Each line is an event of a watch. */
function isWatch({ info }: ProxiedContext, upstream: UpstreamResponse): boolean {
  return info.verb === 'watch' && upstream.statusCode === 200 && isPlainJSON(upstream);
}
