// Interface of the client for kube-apiserver. The client authenticates with the credentials of this server, not of
// the caller.
import type { UpstreamResponse } from '../../upstream/upstream-response.ts';

export interface ClusterRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly signal: AbortSignal;
  /** True for a request that changes nothing although it is no GET, such as a review. It can be sent twice. */
  readonly isRead?: boolean;
  /**
   * Name of a class of requests that arrive in hundreds, such as the log streams of a live tail. Requests of other
   * classes do not queue behind them for a connection.
   */
  readonly crowd?: string;
  /**
   * Timeout in ms, 10,000 by default. It applies separately to loading the credentials, to waiting for the response
   * headers, and to each pause of a body that is read completely.
   */
  readonly timeoutMs?: number;
}

/** A client for kube-apiserver. Its implementation handles TLS, credentials and their rotation. */
export interface ClusterClient {
  /** Returns the response with an unread body, for every HTTP status. The caller reads or destroys the body. */
  open(request: ClusterRequest): Promise<UpstreamResponse>;
  /**
   * Returns the parsed JSON body of a 2xx response. Throws StatusError for any other response of kube-apiserver,
   * ServiceUnavailable when kube-apiserver is unreachable.
   */
  json(request: ClusterRequest & { readonly json?: unknown }): Promise<unknown>;
}
