// GatewayRoute: the interface between the filter chain and the gateway to kube-apiserver.
import type { Authenticator } from '../authentication/authenticator.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestInfo } from './request-info.ts';

/**
 * Header of each response of the gateway, whatever its type: a browser gives the response an origin of its own, and runs no script. The
 * response may be from a backend or an aggregated API server, because kube-apiserver decides what the path means.
 */
export const SANDBOX = [
  'Content-Security-Policy',
  "sandbox; default-src 'none'; frame-ancestors 'none'",
] as const;

/** The attributes of a request that the gateway forwards. */
export interface ProxiedRequest {
  readonly info: RequestInfo;
  readonly longRunning: boolean;
  /** True at the host name of the option `gateway.proxyHost`, which has pages of backends and nothing else. */
  readonly atProxyHost: boolean;
}

export interface ProxiedContext extends RequestContext {
  readonly longRunning: boolean;
  readonly atProxyHost: boolean;
  readonly maxBodyBytes: number;
  /** Undefined if tracing is disabled. */
  readonly trace?: object | undefined;
  /** The IP address of the client; undefined if the socket was closed on arrival. */
  readonly source: string | undefined;
  /** The reason of the abort of `signal`, which is created on first use; undefined before the abort. */
  readonly abortReason: unknown;
  /** Called at the abort. A listener of `signal` takes 5 % of the CPU time of a forwarded get. */
  onAbort: { aborted(): void } | undefined;
}

export interface GatewayRoute {
  readonly authenticator: Authenticator;
  /** Returns undefined for a request that this server handles itself. */
  readonly select: (
    context: Pick<RequestContext, 'request' | 'secure' | 'upgrade'>,
  ) => ProxiedRequest | undefined;
  /** Forwards the request, and resolves at the end of the response. Throws StatusError without a response. */
  readonly serve: (context: ProxiedContext) => Promise<void>;
}
