// Upgrade proxy: forwards an upgrade (SPDY, WebSocket) to kube-apiserver on a connection of its own, and then copies
// bytes in both directions with backpressure. The end of either side ends the other.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { closeGracefully } from '../http/graceful-close.ts';
import { hasBody } from '../http/request-body.ts';
import type { ProxiedContext } from '../request/gateway-route.ts';
import type { Upgrade } from '../request/request-context.ts';
import { startCall, TRACEPARENT } from '../upstream/trace-context.ts';
import { UpstreamResponse } from '../upstream/upstream-response.ts';
import { reasonOf, responseHeaders } from './response-headers.ts';
import { badGateway, type Forwarding, upstreamError } from './upstream-error.ts';

// Not an import, which would also load the undici of Node.
const http = process.getBuiltinModule('node:http');

/** Time in ms for kube-apiserver to close its side after the client has closed its side. */
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * Forwards the upgrade. If kube-apiserver accepts it, resolves with undefined at the end of the connection, else with the rejection.
 * Throws StatusError as `upstreamResponse` does, 400 for an upgrade with a body, which could end in two places, and 502 for a response
 * that neither accepts nor rejects the upgrade.
 */
export async function forwardUpgrade(
  context: ProxiedContext,
  upgrade: Upgrade,
  forwarding: Forwarding,
): Promise<UpstreamResponse | undefined> {
  const { request } = context;
  if (hasBody(request)) throw newBadRequest('an upgrade request must not have a body');
  const protocol = request.headers.upgrade ?? '';
  const headers = [...forwarding.headers, 'Connection', 'Upgrade', 'Upgrade', protocol];
  // Node sends a chunked body for other methods by default.
  if (request.method !== 'GET') headers.push('Content-Length', '0');
  const { response, upgraded } = await opened(context, { ...forwarding, headers });
  if (!upgraded) {
    const status = response.statusCode ?? 0;
    if (status >= 400) return rejectionOf(response);
    response.destroy();
    throw badGateway(`kube-apiserver responded to an upgrade with status ${status}`);
  }
  const { socket, head } = upgraded;
  if (response.headers.upgrade?.toLowerCase() !== protocol.toLowerCase()) {
    socket.destroy();
    throw badGateway('kube-apiserver accepted another protocol than the requested one');
  }
  const client = upgrade.accept();
  client.write(acceptance(response, context), 'latin1');
  if (head.length > 0) client.write(head);
  if (upgrade.head.length > 0) socket.write(upgrade.head);
  await tunnel(client, socket, context.signal);
  return undefined;
}

interface Opened {
  readonly response: IncomingMessage;
  /** The connection after an accepted upgrade. */
  readonly upgraded?: { readonly socket: Socket; readonly head: Buffer };
}

/** Sends the request on a connection of its own. Not with undici, which loses the body of a rejection. */
async function opened(context: ProxiedContext, { target, headers, caller }: Forwarding): Promise<Opened> {
  const { endpoint, pool, connectTimeoutMs } = target;
  const { request, signal } = context;
  const errorOf = upstreamError(target);
  using bounded = boundedSignal(signal, connectTimeoutMs);
  const connection = await pool.connector.open(caller, bounded.signal).catch((error: Error) => {
    throw context.abortReason ?? errorOf(error, false);
  });
  const { promise, resolve, reject } = Promise.withResolvers<Opened>();
  const { method = 'GET', url = '' } = request;
  const call = startCall(method, pool.origin);
  const outgoing = http.request({
    path: endpoint.basePath + url,
    method,
    headers: call ? [...headers, TRACEPARENT, call.traceparent] : headers,
    createConnection: () => connection,
  });
  const fail = (error: Error): void => reject(context.abortReason ?? errorOf(error, true));
  outgoing.on('response', (response) => {
    call?.ended(response.statusCode);
    resolve({ response });
  });
  outgoing.on('upgrade', (response, socket: Socket, head) => {
    call?.ended(response.statusCode);
    resolve({ response, upgraded: { socket, head } });
  });
  outgoing.on('error', fail);
  outgoing.on('close', () => {
    context.onAbort = undefined;
    fail(new Error('the connection was closed'));
  });
  context.onAbort = { aborted: () => void connection.destroy() };
  if (context.abortReason !== undefined) connection.destroy();
  outgoing.end();
  return promise;
}

/** The response that rejects the upgrade, with an unread body. */
function rejectionOf(message: IncomingMessage): UpstreamResponse {
  const { statusCode = 502, statusMessage = '', headers } = message;
  const response = new UpstreamResponse(message, statusCode, statusMessage, headers, (error) => {
    message.destroy();
    response.failed(error);
  });
  message.on('data', (part: Buffer) => response.received(part));
  message.on('end', () => response.completed());
  message.on('error', () => undefined);
  message.on('close', () => response.failed(new Error('the response was truncated')));
  return response;
}

/** The response that accepts the upgrade, as bytes: Node has detached the connection from its response object. */
function acceptance(response: IncomingMessage, context: ProxiedContext): string {
  const headers = [
    ...responseHeaders(response, context),
    'Connection',
    'Upgrade',
    'Upgrade',
    response.headers.upgrade ?? '',
  ];
  const lines = [`HTTP/1.1 101 ${reasonOf(response)}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Copies bytes until both connections are closed. */
function tunnel(client: Duplex, upstream: Duplex, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const destroy = (): void => {
    client.destroy();
    upstream.destroy();
  };
  // Before `pipe`, whose first write must find the connection corked.
  writeTogether(upstream, client);
  // `pipe` ends the other side, after it has written what it has read.
  client.pipe(upstream);
  upstream.pipe(client);
  client.once('end', () => {
    timer = setTimeout(destroy, CLOSE_TIMEOUT_MS);
  });
  client.on('error', destroy);
  // kube-apiserver may reset the connection behind the last bytes, which the client still has to receive.
  upstream.on('error', () => client.end());
  upstream.once('close', () => client.end());
  // The client has received the last bytes. `pipe` no longer reads its input, so that it would not close by itself.
  client.once('finish', () => closeGracefully(client));
  client.once('close', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', destroy);
    upstream.destroy();
    resolve();
  });
  signal.addEventListener('abort', destroy, { once: true });
  if (signal.aborted) destroy();
  return promise;
}

/** Writes the bytes that arrive in one iteration of the event loop together, because each write costs a TLS record and a system call. */
function writeTogether(from: Readable, to: Writable): void {
  from.on('data', () => {
    if (to.writableCorked > 0) return;
    to.cork();
    setImmediate(() => to.uncork());
  });
}
