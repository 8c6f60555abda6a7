import type { RequestContext } from './request-context.ts';

/** Whether a request has no deadline and counts against its own concurrency limit. */
export type LongRunning = (context: Pick<RequestContext, 'info' | 'query' | 'upgrade'>) => boolean;

const STREAMING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/**
 * Watches, upgrades of resources, and streaming subresources, as in kube-apiserver. An upgrade of another path gets an ordinary
 * response with a deadline.
 */
export const isLongRunning: LongRunning = ({ info, upgrade }) => {
  if (!info.isResourceRequest) return false;
  if (upgrade) return true;
  return info.verb === 'watch' || (info.subresource !== '' && STREAMING_SUBRESOURCES.has(info.subresource));
};
