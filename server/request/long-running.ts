// Detects long-running requests, such as watches.
import type { RequestContext } from './request-context.ts';

/** Returns true for a long-running request, which has no deadline and a separate concurrency limit. */
export type LongRunning = (
  context: Pick<RequestContext, 'info' | 'query' | 'upgrade' | 'request'>,
) => boolean;

const STREAMING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/**
 * Selects watches, upgrades of resources, and streaming subresources, as in kube-apiserver. An upgrade of another path is not
 * long-running, because it gets an ordinary response.
 */
export function isLongRunning({ info, upgrade }: Pick<RequestContext, 'info' | 'upgrade'>): boolean {
  if (!info.isResourceRequest) return false;
  if (upgrade) return true;
  return info.verb === 'watch' || (info.subresource !== '' && STREAMING_SUBRESOURCES.has(info.subresource));
}
