import type { IncomingMessage } from 'node:http';

export interface ClusterRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with query, beginning with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  readonly signal: AbortSignal;
  /** Of which there may be hundreds at once: the others do not wait behind all of them for a connection. */
  readonly crowd?: string;
  /**
   * Until there are credentials, then until the answer's headers have come, and for how long one that is read whole may
   * then be silent, in ms; 10,000 when none is given.
   */
  readonly timeoutMs?: number;
}

/** kube-apiserver as our own identity sees it: TLS, credentials and their rotation are dealt with below it. */
export interface ClusterClient {
  /** The answer with its body unread, whatever its status. The caller reads or destroys it. */
  open(request: ClusterRequest): Promise<IncomingMessage>;
  /**
   * The parsed JSON body of a 2xx answer.
   * Throws StatusError when kube-apiserver answered with one, ServiceUnavailable when it could not be reached.
   */
  json(request: ClusterRequest & { readonly json?: unknown }): Promise<unknown>;
}
