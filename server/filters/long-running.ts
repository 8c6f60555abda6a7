import type { RequestContext } from './request-context.ts';

/** Whether a request may outlive the deadline; it counts against a limit of its own. */
export type LongRunning = (context: Pick<RequestContext, 'info' | 'query' | 'upgrade'>) => boolean;

const STREAMING_SUBRESOURCES = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Watches, upgrades, and the subresources that stream, as kube-apiserver has them. */
export const isLongRunning: LongRunning = ({ info, upgrade }) => {
  if (upgrade) return true;
  if (!info.isResourceRequest) return false;
  return info.verb === 'watch' || (info.subresource !== '' && STREAMING_SUBRESOURCES.has(info.subresource));
};
