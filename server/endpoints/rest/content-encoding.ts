// Whether a body is worth compressing, and for whom.
import type { IncomingMessage } from 'node:http';

/** Bodies up to this size go out as they are, as from kube-apiserver. */
export const GZIP_THRESHOLD = 128 * 1024;

export function acceptsGzip({ headers }: IncomingMessage): boolean {
  const header = headers['accept-encoding'];
  if (typeof header !== 'string' || !header.includes('gzip')) return false;
  return header.split(',').some((one) => {
    const [coding = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
