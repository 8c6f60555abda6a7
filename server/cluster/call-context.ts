/**
 * The context of a call to the cluster. Usually it is the request of the client that causes the call. Read `signal`
 * only if the call has to wait, because a request creates its signal at the first read.
 */
export interface CallContext {
  readonly signal: AbortSignal;
}
