// Continue tokens of paged lists: opaque to clients, the same JSON in base64url as kube-apiserver's.
import { jsonError } from '../../reading/go-json.ts';
import { isRecord } from '../../reading/unknown-value.ts';
import { newBadRequest, type StatusError } from './errors.ts';

const VERSION = 'meta.k8s.io/v1';

export interface ContinueToken {
  /** resourceVersion of the snapshot of all pages; `-1`: the current one. */
  readonly resourceVersion: string;
  /** Key of the last object of the previous page. */
  readonly after: string;
}

/** Go's ranges start at a key; the smallest key after `k` is `k` and a zero byte. */
const BEHIND = '\u0000';

export function encodeContinue(token: ContinueToken): string {
  // Formatted by hand: a resourceVersion can exceed the precision of a JavaScript number.
  const json = `{"v":"${VERSION}","rv":${token.resourceVersion},"start":${JSON.stringify(token.after + BEHIND)}}`;
  return Buffer.from(json).toString('base64url');
}

function invalid(why: string): StatusError {
  return newBadRequest(`invalid continue token: continue key is not valid${why}`);
}

/** Offset at which Go's decoder fails: a byte outside of base64url, or a surplus one; -1 if none. */
function base64Error(text: string): number {
  const foreign = text.search(/[^A-Za-z0-9_-]/);
  return foreign < 0 && text.length % 4 === 1 ? text.length - 1 : foreign;
}

/** Go's names of the JSON types. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const TYPES = { v: 'string', rv: 'int64', start: 'string' } as const;

/** `rv`: verbatim. A missing or null member is empty or 0. */
interface Members {
  readonly v: string;
  readonly rv: string;
  readonly start: string;
}

function members(text: string): Members {
  const offset = base64Error(text);
  if (offset >= 0) throw invalid(`: illegal base64 data at input byte ${offset}`);
  const bytes = Buffer.from(text, 'base64url');
  const noJSON = jsonError(bytes);
  if (noJSON !== undefined) throw invalid(`: ${noJSON}`);
  const json = bytes.toString();
  const value: unknown = JSON.parse(json);
  if (value !== null && !isRecord(value)) {
    throw invalid(`: json: cannot unmarshal ${typeName(value)} into Go value of type storage.continueToken`);
  }
  // JavaScript rounds large numbers.
  const [, number = ''] = /"rv"\s*:\s*(-?[\d.eE+-]+)/.exec(json) ?? [];
  const found = { v: '', rv: '0', start: '' };
  for (const [name, member] of Object.entries(value ?? {})) {
    if (member === null || (name !== 'v' && name !== 'rv' && name !== 'start')) continue;
    if (name === 'rv' && typeof member === 'number' && /^-?\d+$/.test(number)) found.rv = number;
    else if (name !== 'rv' && typeof member === 'string') found[name] = member;
    else {
      const what = name === 'rv' && typeof member === 'number' ? `number ${number}` : typeName(member);
      throw invalid(
        `: json: cannot unmarshal ${what} into Go struct field continueToken.${name} of type ${TYPES[name]}`,
      );
    }
  }
  return found;
}

/** Throws BadRequest if `text` is not a valid token. */
export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = members(text);
  if (v !== VERSION) {
    throw invalid(`: server does not recognize this encoded version ${v}`);
  }
  if (/^-?0+$/.test(rv)) {
    throw invalid(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (start === '') {
    throw invalid(': encoded start key empty (version meta.k8s.io/v1)');
  }
  if (
    !start.endsWith(BEHIND) ||
    start.split('/').some((part) => part === '' || part === '.' || part === '..')
  ) {
    throw invalid(`: ${start}`);
  }
  return { resourceVersion: rv, after: start.slice(0, -BEHIND.length) };
}
