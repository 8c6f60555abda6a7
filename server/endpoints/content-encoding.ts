// Whether a body is worth compressing, and for whom.
import type { IncomingMessage } from 'node:http';

/** Bodies up to this size go out as they are, as from kube-apiserver. */
export const GZIP_THRESHOLD = 128 * 1024;

/** More codings, or parts of one, than any client names; what comes behind them is not looked at. */
const MAX_CODINGS = 64;
const MAX_PARTS = 16;

export function acceptsGzip({ headers }: IncomingMessage): boolean {
  const header = headers['accept-encoding'];
  if (typeof header !== 'string' || !header.includes('gzip')) return false;
  return header.split(',', MAX_CODINGS).some((one) => {
    const [coding = '', ...parameters] = one.split(';', MAX_PARTS).map((part) => part.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
