// Where the next page begins. It includes the range of the first page, so that new lines do not shift the pages. It comes
// back from outside, so it can only ask for what its sender may ask for anyway.
import { hash } from 'node:crypto';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import { isAskable } from '../instant.ts';
import type { Selection } from '../log-store.ts';
import { broughtBack, handedOut } from './handed-out.ts';

export interface Cursor {
  readonly range: Selection['range'];
  /** The store's own words. */
  readonly position: string;
}

const VERSION = 1;

/** What may change from one page to the next. */
const OF_THE_PAGE = new Set<string>([
  'cursor',
  'size',
  'from',
  'highlight',
  'before',
  'after',
  'interval',
  'time_zone',
]);

/** `caller`: the name of who asks. A total that goes along is that of what the caller may see. */
export function writeCursor(query: LogQuery, caller: string, { range, position }: Cursor): string {
  const parts = [VERSION, digestOf(query, caller), range.start, range.end, position];
  return handedOut(parts);
}

/** Throws BadRequest when it is not one, or one of another query or caller. */
export function readCursor(query: LogQuery, caller: string, cursor: string): Cursor {
  const read = parse(cursor);
  if (!read) throw newInvalidParameter('cursor', NO_CURSOR);
  const { digest, ...rest } = read;
  if (digest !== digestOf(query, caller)) {
    throw newInvalidParameter(
      'cursor',
      'belongs to another query or another caller: all but size has to be asked as it was; or leave it out to begin anew',
    );
  }
  return rest;
}

const NO_CURSOR = 'is not a cursor of this server; leave it out to begin with the first page';

/** What is wrong with it whoever asks whatever; undefined when nothing is. */
export function cursorFault(cursor: string): string | undefined {
  return parse(cursor) ? undefined : NO_CURSOR;
}

function digestOf(query: LogQuery, caller: string): string {
  const kept = Object.entries(query)
    .filter(([name]) => !OF_THE_PAGE.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return hash('sha256', JSON.stringify([caller, kept]), 'base64url').slice(0, 22);
}

/** Undefined for what this server has never handed out. */
function parse(cursor: string): (Cursor & { readonly digest: unknown }) | undefined {
  const [version, digest, start, end, position] = broughtBack(cursor) ?? [];
  if (version !== VERSION || !isAskable(start) || !isAskable(end) || typeof position !== 'string') {
    return undefined;
  }
  return start > end ? undefined : { range: { start, end }, position, digest };
}
