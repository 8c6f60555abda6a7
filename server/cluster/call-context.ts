// CallContext: the AbortSignal for a call to kube-apiserver, usually the signal of the client request.

/** Context of a call to kube-apiserver, usually the client request that causes the call. */
export interface CallContext {
  /** Read only by calls that wait, because a request creates the AbortSignal on first use. */
  readonly signal: AbortSignal;
  /** Shares the seats of lookups. Absent for work of the server itself. */
  readonly caller?: string | undefined;
}
