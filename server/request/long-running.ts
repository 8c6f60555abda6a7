// Detects long-running requests, such as watches.
import type { RequestContext } from './request-context.ts';

/** Returns true for a long-running request, which has no deadline and a separate concurrency limit. */
export type LongRunning = (
  context: Pick<RequestContext, 'info' | 'query' | 'upgrade' | 'request'>,
) => boolean;

/** The same for the requests of one API, by what it serves as a stream. Undefined for the requests of others. */
export type LongRunningOf = (...request: Parameters<LongRunning>) => boolean | undefined;

const STREAMING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Selects watches and streaming subresources, as in kube-apiserver. An upgrade alone is not long-running: a list gets an ordinary response. */
export function isLongRunning({ info }: Pick<RequestContext, 'info'>): boolean {
  if (!info.isResourceRequest) return false;
  return info.verb === 'watch' || STREAMING_SUBRESOURCES.has(info.subresource);
}
