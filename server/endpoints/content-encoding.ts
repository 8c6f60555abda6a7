// Whether a body is worth compressing, and for whom.
import type { IncomingMessage } from 'node:http';

/** Bodies up to this size go out as they are, as from kube-apiserver. */
export const GZIP_THRESHOLD = 128 * 1024;

/** More codings, or parts of one, than any client names; what comes behind them is not looked at. */
const MAX_CODINGS = 64;
const MAX_PARTS = 16;

/** Also when nothing is said of `identity`; not when that is named as the better one (RFC 9110 section 12.5.3). */
export function acceptsGzip({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const header = headers['accept-encoding'];
  if (typeof header !== 'string' || !header.includes('gzip')) return false;
  let gzip = 0;
  let identity = 0;
  for (const one of header.split(',', MAX_CODINGS)) {
    const [coding = '', ...parameters] = one.split(';', MAX_PARTS).map((part) => part.trim().toLowerCase());
    if (coding === 'gzip') gzip = Math.max(gzip, quality(parameters));
    else if (coding === 'identity') identity = quality(parameters);
  }
  return gzip > 0 && gzip >= identity;
}

function quality(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [, value] = /^q=([01](?:\.\d*)?)$/.exec(parameter) ?? [];
    if (value !== undefined) return Number(value);
  }
  return 1;
}
