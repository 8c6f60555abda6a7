/**
 * What a question belongs to, usually the request that it is asked for. The signal ends the wait for an answer. It is
 * taken from here only when there is something to wait for, since a request makes one when it is first asked for it.
 */
export interface CallContext {
  readonly signal: AbortSignal;
}
