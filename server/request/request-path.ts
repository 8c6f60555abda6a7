// The request target, taken apart once and strictly. What can be read in two ways is refused, so that routing,
// authorization and every proxy behind us see the same segments.
import { newBadRequest, newInvalidParameter } from '../../apis/meta/v1/errors.ts';
import { shortened } from '../../apis/meta/v1/query-errors.ts';

export interface RequestPath {
  /** Decoded. For logs, metrics and non-resource rules. */
  readonly path: string;
  /** Decoded segments; a trailing slash leaves an empty last one. */
  readonly segments: readonly string[];
  /** Undecoded, without the question mark. */
  readonly search: string;
}

const PLAIN = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// What URL parsers turn into something else (a slash, a fragment), and bytes without a defined encoding.
const UNESCAPED = /[^!-~]|[#\\]/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/** Of a byte beyond ASCII. */
const HIGH_ESCAPE = /%[89A-Fa-f]/;

/** Taking a hundred thousand apart blocks the event loop for a tenth of a second, each time that it is done. */
const MAX_PARAMETERS = 1_000;

/** Throws BadRequest for a target that has more than one reading, or too many parameters. `target` is the request line's, undecoded. */
export function parseRequestPath(target: string): RequestPath {
  const raw = pathIn(target);
  const search = searchIn(target);
  if (!raw.startsWith('/')) throw newBadRequest('the request target is not a path');
  checkSearch(search);
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

/** Looking is cheaper than parsing, and most requests have none. */
export function hasQuery({ url = '' }: { readonly url?: string | undefined }): boolean {
  return url.includes('?');
}

/** What stands before the query, undecoded. */
export function pathIn(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** The query, undecoded, without the question mark; empty when there is none. */
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
 * Go drops a parameter with a raw semicolon or a bad escape without a word, so through the aggregator a selector
 * could vanish and the answer grow. A direct caller who sends one gets a 400. So do bytes that are not UTF-8, which
 * URLSearchParams would silently turn into U+FFFD.
 */
function checkSearch(search: string): void {
  if (search === '') return;
  if (hasTooMany(search)) throw newBadRequest(`the query has more than ${MAX_PARAMETERS} parameters`);
  if (search.includes(';')) throw newBadRequest('the query has an unescaped semicolon');
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
  return newInvalidParameter(field, 'has a malformed percent escape, or one that is no UTF-8');
}
