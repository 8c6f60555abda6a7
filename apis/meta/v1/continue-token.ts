// Where a paged list goes on: opaque to clients, the same JSON in base64url as kube-apiserver's own.
import { newBadRequest, type StatusError } from './errors.ts';

const VERSION = 'meta.k8s.io/v1';

export interface ContinueToken {
  /** The snapshot that the pages are cut from, or `-1`: the newest one, whatever has changed in between. */
  readonly resourceVersion: string;
  /** The key of the last object of the page before. */
  readonly after: string;
}

/** Go's ranges begin at a key; the smallest key behind `k` is `k` and a zero byte. */
const BEHIND = '\u0000';

export function encodeContinue(token: ContinueToken): string {
  // Written by hand: a resourceVersion may be larger than what a JavaScript number holds.
  const json = `{"v":"${VERSION}","rv":${token.resourceVersion},"start":${JSON.stringify(token.after + BEHIND)}}`;
  return Buffer.from(json).toString('base64url');
}

function refused(why: string): StatusError {
  return newBadRequest(`invalid continue token: continue key is not valid${why}`);
}

/** Where Go's decoder gives up: at a byte that is none of base64url, or at one that is left over; -1 for nowhere. */
function base64Fault(text: string): number {
  const foreign = text.search(/[^A-Za-z0-9_-]/);
  return foreign < 0 && text.length % 4 === 1 ? text.length - 1 : foreign;
}

function members(text: string): Record<string, unknown> {
  const fault = base64Fault(text);
  if (fault >= 0) throw refused(`: illegal base64 data at input byte ${fault}`);
  const json = Buffer.from(text, 'base64url').toString();
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null)
      return { ...value, rv: /"rv":\s*(-?\d+)\s*[,}]/.exec(json)?.[1] };
  } catch {
    // The answer is the same as for any other value that is no token.
  }
  throw refused('');
}

/** Throws BadRequest when `text` is no token of ours. */
export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = members(text);
  if (v !== VERSION) {
    throw refused(`: server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`);
  }
  if (typeof rv !== 'string' || rv === '0') {
    throw refused(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') {
    throw refused(': encoded start key empty (version meta.k8s.io/v1)');
  }
  if (
    !start.endsWith(BEHIND) ||
    start.split('/').some((part) => part === '' || part === '.' || part === '..')
  ) {
    throw refused(`: ${start}`);
  }
  return { resourceVersion: rv, after: start.slice(0, -BEHIND.length) };
}
