import type { RequestContext } from './request-context.ts';

/** Whether a request may outlive the deadline; it counts against a limit of its own. */
export type LongRunning = (context: Pick<RequestContext, 'info' | 'query' | 'upgrade'>) => boolean;

const STREAMING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/**
 * Watches, upgrades of resources, and the subresources that stream, as kube-apiserver has them. Elsewhere nothing can be
 * upgraded, and who asks for it gets an ordinary answer: with its deadline, and counted with its like.
 */
export const isLongRunning: LongRunning = ({ info, upgrade }) => {
  if (!info.isResourceRequest) return false;
  if (upgrade) return true;
  return info.verb === 'watch' || (info.subresource !== '' && STREAMING_SUBRESOURCES.has(info.subresource));
};
