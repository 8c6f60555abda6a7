// Encoder and decoder of the continue tokens of lists: JSON in base64url, as in kube-apiserver.
import { jsonError } from '../../reading/go-json.ts';
import { isRecord } from '../../reading/unknown-value.ts';
import { newBadRequest, type StatusError } from './errors.ts';

const VERSION = 'meta.k8s.io/v1';

export interface ContinueToken {
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

function invalid(why: string): StatusError {
  return newBadRequest(`invalid continue token: continue key is not valid${why}`);
}

/** Returns the offset at which Go's base64url decoder fails, or -1 for valid text. */
function base64Error(text: string): number {
  const foreign = text.search(/[^A-Za-z0-9_-]/);
  return foreign < 0 && text.length % 4 === 1 ? text.length - 1 : foreign;
}

/** Returns the name that Go's messages use for the JSON type of a value. */
function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

const TYPES = { v: 'string', rv: 'int64', start: 'string' } as const;

/** The fields of a token. `rv` is the text of the number. A missing or null field is empty or 0. */
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
  // Reads the text of the number, because JSON.parse rounds large numbers.
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

/** Decodes a token. Throws BadRequest if `text` is not a valid token. */
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
  // kube-apiserver sends the slash if the previous page was from its watch cache, and accepts both.
  const key = start.startsWith('/') ? start.slice(1) : start;
  if (!key.endsWith(BEHIND) || key.split('/').some((part) => part === '' || part === '.' || part === '..')) {
    throw invalid(`: ${start}`);
  }
  return { resourceVersion: rv, after: key.slice(0, -BEHIND.length) };
}
