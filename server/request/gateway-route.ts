// GatewayRoute: the interface between the filter chain and the gateway to kube-apiserver.
import type { Authenticator } from '../authentication/authenticator.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestInfo } from './request-info.ts';

/** The attributes of a request that the gateway forwards. */
export interface ProxiedRequest {
  readonly info: RequestInfo;
  readonly longRunning: boolean;
}

export interface ProxiedContext extends RequestContext {
  readonly longRunning: boolean;
  /** The IP address of the client; undefined if the socket was closed on arrival. */
  readonly source: string | undefined;
  /** The reason of the abort of `signal`, which is created on first use; undefined before the abort. */
  readonly abortReason: unknown;
  /** Called at the abort. A listener of `signal` takes 5 % of the CPU time of a forwarded get. */
  onAbort: (() => void) | undefined;
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
