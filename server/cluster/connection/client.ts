import type { IncomingMessage } from 'node:http';

export interface ClusterRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly signal: AbortSignal;
  /** A class of requests that come in hundreds. Other requests do not queue behind it for a connection. */
  readonly crowd?: string;
  /**
   * In ms, 10,000 by default: the limit for the credentials, then for the response headers, then for each silence of
   * a body that is read whole.
   */
  readonly timeoutMs?: number;
}

/**
 * kube-apiserver under the server's own identity. TLS, credentials and their rotation are handled below this
 * interface.
 */
export interface ClusterClient {
  /** Returns the response with its body unread, whatever its status. The caller reads or destroys the body. */
  open(request: ClusterRequest): Promise<IncomingMessage>;
  /**
   * Returns the parsed JSON body of a 2xx response. Throws StatusError for any other response of kube-apiserver,
   * ServiceUnavailable when kube-apiserver is unreachable.
   */
  json(request: ClusterRequest & { readonly json?: unknown }): Promise<unknown>;
}
