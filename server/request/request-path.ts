// Strict parser of request targets. Ambiguous targets are rejected, so that routing, authorization and proxies use
// the same path.
import { newBadRequest, newInvalidParameter } from '../../apis/meta/v1/errors.ts';
import { shortened } from '../../apis/reading/schema-error.ts';

export interface RequestPath {
  /** Decoded, for logs, metrics and non-resource rules. */
  readonly path: string;
  /** Decoded segments. A trailing slash adds an empty last segment. */
  readonly segments: readonly string[];
  /** Undecoded, without the question mark. */
  readonly search: string;
}

const PLAIN = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// Characters that URL parsers convert to a slash or a fragment, and characters outside printable ASCII.
const UNESCAPED = /[^!-~]|[#\\]/;
/** Node reads such bytes as Latin-1, other servers as UTF-8. */
const NOT_ASCII = /[^!-~]/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/** The escape of a byte outside ASCII. */
const HIGH_ESCAPE = /%[89A-Fa-f]/;

/** The OAuth endpoints parse their queries as forms, and kube-apiserver does not forward them. */
const FORM_QUERY = /^\/oauth\//;
/** Maximum number of query parameters: parsing 100,000 would block the event loop for 0.1 s. */
export const MAX_PARAMETERS = 1_000;

/** Parses an undecoded target. Throws BadRequest for an ambiguous target, or too many parameters. */
export function parseRequestPath(target: string): RequestPath {
  const raw = pathIn(target);
  const search = searchIn(target);
  if (!raw.startsWith('/')) throw newBadRequest('the request target is not a path');
  if (!FORM_QUERY.test(raw)) checkSearch(search);
  const escaped = !PLAIN.test(raw);
  const segments = raw.slice(1).split('/');
  const last = segments.length - 1;
  for (let i = 0; i <= last; i++) {
    const segment = segments[i] ?? '';
    if (segment === '' && i < last) throw newBadRequest('the path has an empty segment');
    const decoded = escaped ? decodeSegment(segment) : segment;
    if (decoded === '.' || decoded === '..') throw newBadRequest('the path has a dot segment');
    segments[i] = decoded;
  }
  return { path: escaped ? `/${segments.join('/')}` : raw, segments, search };
}

/** Returns true if the URL has a query. Cheaper than parsing the query. */
export function hasQuery({ url = '' }: { readonly url?: string | undefined }): boolean {
  return url.includes('?');
}

/** The target without its query, undecoded. */
export function pathIn(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** The query without the question mark, undecoded; empty for none. */
export function searchIn(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}

function decodeSegment(segment: string): string {
  if (UNESCAPED.test(segment)) throw newBadRequest('the path has an unescaped character');
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw newBadRequest('the path has a malformed percent escape');
  }
  if (decoded.includes('/')) throw newBadRequest('the path has an escaped slash');
  if (CONTROL.test(decoded)) throw newBadRequest('the path has a control character');
  return decoded;
}

/**
 * Throws BadRequest for queries that servers parse differently. Go silently drops parameters with a raw semicolon or an invalid
 * escape, so the aggregator could drop a selector. URLSearchParams silently converts invalid UTF-8 to U+FFFD.
 */
function checkSearch(search: string): void {
  if (search === '') return;
  if (hasTooMany(search)) throw newBadRequest(`the query has more than ${MAX_PARAMETERS} parameters`);
  if (search.includes(';')) throw newBadRequest('the query has an unescaped semicolon');
  if (NOT_ASCII.test(search)) throw newBadRequest('the query has an unescaped character outside ASCII');
  if (!search.includes('%')) return;
  if (BAD_ESCAPE.test(search)) throw malformedParameter(search, (part) => BAD_ESCAPE.test(part));
  if (HIGH_ESCAPE.test(search) && !isText(search)) throw malformedParameter(search, (part) => !isText(part));
}

function hasTooMany(search: string): boolean {
  let at = -1;
  for (let count = 0; count < MAX_PARAMETERS; count++) {
    at = search.indexOf('&', at + 1);
    if (at < 0) return false;
  }
  return true;
}

function isText(escaped: string): boolean {
  try {
    decodeURIComponent(escaped);
    return true;
  } catch {
    return false;
  }
}

function malformedParameter(search: string, isMalformed: (part: string) => boolean): Error {
  const part = search.split('&').find(isMalformed) ?? search;
  const [name = ''] = part.split('=');
  const field = shortened(isText(name) ? decodeURIComponent(name) : name);
  return newInvalidParameter(field, 'has a percent escape that is malformed or not UTF-8');
}
