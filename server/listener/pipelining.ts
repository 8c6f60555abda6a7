import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Requests of one connection that wait for their answers. Node reads and parses them as fast as they come, even while the
 * first one waits for the cluster, and keeps each with its headers.
 */
const MAX_PIPELINED = 32;

/**
 * Whether these are too many for one connection, or their headers larger than those of one may be: then its client has to
 * try again.
 */
export function areTooMany(waiting: readonly ServerResponse[], maxHeaders: number): boolean {
  if (waiting.length > MAX_PIPELINED) return true;
  return waiting.length > 1 && waiting.reduce((sum, { req }) => sum + headSize(req), 0) > maxHeaders;
}

function headSize({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}
