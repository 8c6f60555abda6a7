/**
 * The context of a call to the cluster, usually the request that causes it. Read `signal` only when there is
 * something to wait for: a request creates its signal at the first read.
 */
export interface CallContext {
  readonly signal: AbortSignal;
}
