/**
 * The context of a call to the cluster; usually the client request that causes the call. Read `signal` only if the call
 * has to wait, because a request creates its AbortSignal when the property is first read.
 */
export interface CallContext {
  readonly signal: AbortSignal;
}
