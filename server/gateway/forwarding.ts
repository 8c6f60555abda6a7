// Gateway: forwards requests for the API of kube-apiserver as the caller. It authorizes nothing itself: kube-apiserver
// authenticates the forwarded token, or the impersonated user, and authorizes the request.
import type { IncomingMessage } from 'node:http';
import {
  newBadRequest,
  newMethodNotAllowed,
  newServiceUnavailable,
  StatusError,
} from '../../apis/meta/v1/errors.ts';
import { shortened } from '../../apis/reading/schema-error.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { ProxiedContext } from '../request/gateway-route.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { RecentWrites } from '../resources/recent-writes.ts';
import type { UpstreamResponse } from '../upstream/upstream-response.ts';
import type { Accelerator } from './acceleration/accelerator.ts';
import { forwardedIdentity, requestHeaders } from './forwarded-headers.ts';
import { type ImpersonationMode, isImpersonated } from './gateway-authenticator.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { impersonatedUser, impersonationHeaders } from './impersonation.ts';
import type { ImpersonatorToken } from './impersonator-token.ts';
import { forward, respond } from './reverse-proxy.ts';
import { forwardUpgrade } from './upgrade-proxy.ts';
import type { Upstream } from './upstream.ts';
import type { Forwarding } from './upstream-error.ts';
import { noteWrite } from './written-object.ts';

/** The impersonation of callers, see the option `gateway.impersonation`. */
interface Impersonation {
  readonly mode: ImpersonationMode;
  readonly token: ImpersonatorToken;
  readonly authorizer: Authorizer;
}

interface GatewayOptions {
  readonly upstream: Upstream;
  /** Name of this process in the header `Via`. */
  readonly pseudonym: string;
  readonly impersonation: Impersonation;
  /** Names and prefixes of the front proxy's headers, in lower case. */
  readonly frontProxyHeaders: () => readonly string[];
  /**
   * Called after kube-apiserver has rejected the forwarded token. Returns the cause if kube-apiserver rejects all tokens like this
   * one, else undefined.
   */
  readonly rejection: (context: RequestContext) => Promise<string | undefined>;
  /** Serves reads from caches; undefined if the acceleration is disabled. */
  readonly accelerator: Pick<Accelerator, 'serve'> | undefined;
  readonly writes: RecentWrites;
  readonly metrics: GatewayMetrics;
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
}

export class Gateway {
  readonly #options: GatewayOptions;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Forwards the request. Throws StatusError if kube-apiserver sends no response. */
  async serve(context: ProxiedContext): Promise<void> {
    const { metrics } = this.#options;
    let code = 499;
    try {
      code = await this.#forward(context);
    } catch (error) {
      if (error instanceof StatusError) code = error.code;
      throw error;
    } finally {
      metrics.completed(
        context.info.verb,
        code,
        context.upgrade ? (context.request.headers.upgrade ?? '') : '',
      );
    }
  }

  /** Returns the status code of the response. */
  async #forward(context: ProxiedContext): Promise<number> {
    const { request, upgrade, caller } = context;
    const { upstream, pseudonym, accelerator, metrics, monotonic } = this.#options;
    if (request.headers.via?.includes(pseudonym)) throw loopDetected();
    // Node would wait for a tunnel, but kube-apiserver has none.
    if (request.method === 'CONNECT') throw newMethodNotAllowed('this method on the requested resource');
    if (!upgrade) checkUpgrade(request.headers);
    const found = upstream.target(context);
    const target = found instanceof Promise ? await found : found;
    const isImpersonating = isImpersonated(context.credential, this.#options.impersonation.mode);
    const impersonated = isImpersonating ? await this.#impersonated(context) : undefined;
    // The deadline or the client may have ended the request while it waited.
    if (context.abortReason !== undefined) throw context.abortReason;
    if (!impersonated && (await accelerator?.serve(context))) return context.response.statusCode;
    const forwarding: Forwarding = {
      target,
      caller,
      headers: requestHeaders(request, {
        host: target.endpoint.authority,
        auditID: context.auditID,
        source: context.source,
        via: isBackendRequest(context) ? undefined : `1.1 ${pseudonym}`,
        frontProxy: this.#options.frontProxyHeaders(),
        atProxyHost: context.atProxyHost,
        isTraced: context.trace !== undefined,
        identity: impersonated?.headers ?? forwardedIdentity(context),
      }),
    };
    const startedAt = monotonic();
    const response = upgrade
      ? await forwardUpgrade(context, upgrade, forwarding)
      : await forward(context, forwarding);
    if (!response) return 101;
    metrics.responded(context.info.verb, (monotonic() - startedAt) / 1000);
    if (isRejectedToken(context, response, impersonated !== undefined))
      await this.#explain(context, response, impersonated?.token);
    await respond(context, response, noteWrite(context, response, this.#options.writes));
    return response.statusCode;
  }

  /** Returns the identity headers of an impersonated caller, and the token of the impersonator. */
  async #impersonated(
    context: ProxiedContext,
  ): Promise<{ readonly headers: string[]; readonly token: string }> {
    const { impersonation } = this.#options;
    const user = await impersonatedUser(context.user, context.request, impersonation.authorizer, context);
    const token = await impersonation.token.get(context.signal);
    return { headers: impersonationHeaders(user, token), token };
  }

  /** Throws ServiceUnavailable if the configuration causes the 401 of kube-apiserver, because the caller cannot correct it. */
  async #explain(
    context: RequestContext,
    response: UpstreamResponse,
    impersonator: string | undefined,
  ): Promise<void> {
    if (impersonator !== undefined) {
      response.destroy();
      await this.#options.impersonation.token.get(context.signal, impersonator);
      const reason =
        'kube-apiserver rejected the token of the impersonator; the gateway has requested a new one';
      throw newServiceUnavailable(reason, 1);
    }
    const reason = await this.#options.rejection(context);
    if (reason === undefined) return;
    response.destroy();
    // Without `Retry-After`: kubectl would repeat the request for ten seconds before it prints the message.
    throw new StatusError(503, 'ServiceUnavailable', reason);
  }
}

/**
 * Throws BadRequest for a protocol to which the listener does not switch. As an ordinary request, it would surprise its client, and in
 * another protocol its requests would pass without checks.
 */
function checkUpgrade({ connection = '', upgrade }: IncomingMessage['headers']): void {
  if (upgrade === undefined || !/(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection)) return;
  const protocol = JSON.stringify(shortened(upgrade));
  throw newBadRequest(
    `the connection cannot switch to ${protocol}: the gateway supports websocket and SPDY/3.1 over HTTP/1.1, while no other request is pending`,
  );
}

/** Returns true if kube-apiserver forwards the headers of the request to a pod, Service or kubelet. */
function isBackendRequest({ info }: ProxiedContext): boolean {
  return info.isResourceRequest && info.subresource === 'proxy';
}

/**
 * Returns true if a 401 can be of the authentication of kube-apiserver. Backends, kubelets and aggregated API servers have their own reasons
 * for a 401. The header of priority and fairness proves that kube-apiserver had authenticated the request. Streams, except watches, have no
 * such header: only the trust check can then find the cause, for tokens of this server.
 */
function isRejectedToken(
  context: ProxiedContext,
  { statusCode, headers }: UpstreamResponse,
  isImpersonated: boolean,
): boolean {
  const hasHeader = !context.longRunning || context.info.verb === 'watch';
  return (
    statusCode === 401 &&
    (hasHeader || !(isImpersonated || isBackendRequest(context))) &&
    headers['x-kubernetes-pf-flowschema-uid'] === undefined
  );
}

/** Status 508 of RFC 5842, 7.2. */
function loopDetected(): StatusError {
  return new StatusError(
    508,
    'InternalError',
    'the gateway forwards to itself: the kubeconfig of this server selects this server instead of kube-apiserver',
  );
}
