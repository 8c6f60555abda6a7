/**
 * The context of a call to the cluster, usually the request of the client that causes the call. Read `signal` only
 * before waiting, because a request creates the signal when it is first read.
 */
export interface CallContext {
  readonly signal: AbortSignal;
}
