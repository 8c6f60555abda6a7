// Request of the gateway to kube-apiserver: opens it, and waits for its response or the accepted upgrade.
import { type ClientRequest, type ClientRequestArgs, type IncomingMessage, request as open } from 'node:http';
import type { Socket } from 'node:net';
import { newServiceUnavailable, StatusError } from '../../apis/meta/v1/errors.ts';
import type { ProxiedContext } from '../request/gateway-route.ts';
import type { UpstreamTarget } from './upstream.ts';

export interface Forwarding {
  readonly target: UpstreamTarget;
  /** Names and values in turn. */
  readonly headers: string[];
  /** The caller, for fair queuing of TLS handshakes. */
  readonly caller: string;
}

/** The response of kube-apiserver, with an unread body. `upgraded`: the connection after an accepted upgrade. */
export interface UpstreamResponse {
  readonly response: IncomingMessage;
  readonly upgraded?: { readonly socket: Socket; readonly head: Buffer };
}

/** Opens a request on a connection of `agent`. The caller sends the body, and ends the request. */
export function openUpstream(
  context: ProxiedContext,
  { target: { endpoint }, headers, caller }: Forwarding,
  agent: UpstreamTarget['pool'],
): ClientRequest {
  const { request } = context;
  const options: ClientRequestArgs & { readonly crowd: string } = {
    host: endpoint.host,
    port: endpoint.port,
    path: endpoint.basePath + (request.url ?? ''),
    method: request.method ?? 'GET',
    headers,
    agent,
    crowd: caller,
  };
  return open(options);
}

/** The reused connection was closed before the response. kube-apiserver may close an idle connection at any time. */
export class StaleConnectionError extends StatusError {}

/**
 * Resolves with the response. Throws StatusError: 503 if the request was not sent, else 502. Throws the reason of an
 * abort, which also ends a response that is being read.
 */
export function upstreamResponse(
  outgoing: ClientRequest,
  { connectTimeoutMs, unreachable }: UpstreamTarget,
  context: ProxiedContext,
): Promise<UpstreamResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
  let connected = outgoing.reusedSocket;
  let received: IncomingMessage | undefined;
  let timer: NodeJS.Timeout | undefined;
  const abort = (): void => {
    received?.destroy();
    // The response may be complete while the body of the request is not.
    outgoing.destroy();
  };
  const fail = (cause: Error): void => {
    const { abortReason } = context;
    if (!connected && abortReason === undefined) unreachable();
    reject(abortReason ?? failure(cause, outgoing.reusedSocket, connected));
    // `destroy` would discard the rest of a response to a request whose body failed.
    if (!received) outgoing.destroy();
  };
  if (!connected) {
    timer = setTimeout(
      () => fail(new Error(`no connection within ${connectTimeoutMs} ms`)),
      connectTimeoutMs,
    );
    const connect = (): void => {
      connected = true;
      clearTimeout(timer);
    };
    outgoing.once('socket', connect);
  }
  const refuseSwitch = (): void => {
    outgoing.destroy();
    reject(badGateway('kube-apiserver switched the protocol of the connection'));
  };
  outgoing.on('response', (response) => {
    if (response.statusCode === 101) return refuseSwitch();
    received = response;
    resolve({ response });
  });
  outgoing.on('upgrade', (response, socket: Socket, head) => {
    if (context.upgrade) return resolve({ response, upgraded: { socket, head } });
    socket.destroy();
    refuseSwitch();
  });
  outgoing.on('error', fail);
  outgoing.on('close', () => {
    clearTimeout(timer);
    context.onAbort = undefined;
    if (!received) fail(new Error('the connection was closed'));
  });
  context.onAbort = abort;
  if (context.abortReason !== undefined) abort();
  return promise;
}

function failure(cause: Error, reused: boolean, connected: boolean): StatusError {
  // The gateway itself has ended the request.
  if (cause instanceof StatusError) return cause;
  if (reused) return new StaleConnectionError(502, 'InternalError', CLOSED, undefined, { cause });
  if (connected) return badGateway(CLOSED, cause);
  return newServiceUnavailable('kube-apiserver is unreachable', 1, { cause });
}

const CLOSED =
  'kube-apiserver closed the connection before it responded; the request may have been processed';

/** A response without `Retry-After`, because client-go would repeat a request that may have been processed. */
export function badGateway(message: string, cause?: unknown): StatusError {
  return new StatusError(502, 'InternalError', message, undefined, { cause });
}
