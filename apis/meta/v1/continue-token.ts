// Encoder and decoder of the continue tokens of lists: JSON in base64url, as in kube-apiserver.
import { isRecord, text } from '../../reading/unknown-value.ts';
import { newBadRequest, type StatusError } from './errors.ts';

const VERSION = 'meta.k8s.io/v1';

interface ContinueToken {
  /** The resourceVersion of all pages; `-1` for the current one. */
  readonly resourceVersion: string;
  /** Key of the last object of the previous page. */
  readonly after: string;
}

/** Suffix that turns a key into the smallest greater key, since a range in kube-apiserver includes its first key. */
const BEHIND = '\u0000';

export function encodeContinue(token: ContinueToken): string {
  // Not JSON.stringify, because a resourceVersion can exceed the precision of a JavaScript number.
  const json = `{"v":"${VERSION}","rv":${token.resourceVersion},"start":${JSON.stringify(`/${token.after}${BEHIND}`)}}`;
  return Buffer.from(json).toString('base64url');
}

/** Decodes a token. Throws BadRequest if `token` is not a valid token. */
export function decodeContinue(token: string): ContinueToken {
  const json = Buffer.from(token, 'base64url').toString();
  // Buffer ignores characters that are not of base64url.
  const members = /^[\w-]*$/.test(token) ? parsed(json) : undefined;
  // Reads the text of the number, because JSON.parse rounds large numbers.
  const [, resourceVersion = ''] = /"rv"\s*:\s*(-?\d{1,20})\s*[,}]/.exec(json) ?? [];
  // Another number means that the text has several.
  const isRead = isRecord(members) && members['v'] === VERSION && members['rv'] === Number(resourceVersion);
  if (!isRead || !/[1-9]/.test(resourceVersion)) throw invalid();
  // kube-apiserver sends the slash if the previous page was from its watch cache, and accepts both.
  const key = text(members['start']).replace(/^\//, '');
  if (!key.endsWith(BEHIND) || key.split('/').some((part) => ['', '.', '..'].includes(part))) throw invalid();
  return { resourceVersion, after: key.slice(0, -BEHIND.length) };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function invalid(): StatusError {
  return newBadRequest('invalid continue token: continue key is not valid');
}
