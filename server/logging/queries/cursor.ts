// Cursors: where the next page begins. A cursor contains the range of the first page, so that new lines do not shift the
// pages. It comes back from outside, so it can only request what its sender may request anyway.
import { hash } from 'node:crypto';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import { isAskable } from '../instant.ts';
import type { Selection } from '../log-store.ts';

export interface Cursor {
  readonly range: Selection['range'];
  /** Defined by the store. */
  readonly position: string;
}

const VERSION = 1;
const INVALID = 'is not a cursor of this server; omit it for the first page';

/** Parameters that may differ between pages. */
const PAGE_PARAMETERS = new Set<string>([
  'cursor',
  'size',
  'from',
  'highlight',
  'before',
  'after',
  'interval',
  'time_zone',
]);

/** `caller`: the user name; a total may come with the cursor, and depends on the permissions of the caller. */
export function writeCursor(query: LogQuery, caller: string, { range, position }: Cursor): string {
  return encodeOpaque([VERSION, digestOf(query, caller), range.start, range.end, position]);
}

/** Throws BadRequest for an invalid cursor, and for one of another query or caller. */
export function readCursor(query: LogQuery, caller: string, cursor: string): Cursor {
  const parsed = parse(cursor);
  if (!parsed) throw newInvalidParameter('cursor', INVALID);
  const { digest, ...rest } = parsed;
  if (digest !== digestOf(query, caller)) {
    throw newInvalidParameter(
      'cursor',
      'belongs to another query or another caller: repeat all parameters except size, or omit it for the first page',
    );
  }
  return rest;
}

/** The validation error of a cursor, whatever its query and caller. */
export function cursorError(cursor: string): string | undefined {
  return parse(cursor) ? undefined : INVALID;
}

/** A value that clients return unchanged. */
export function encodeOpaque(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Undefined for a value that encodeOpaque() did not make. */
export function decodeOpaque(text: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(query: LogQuery, caller: string): string {
  const fixed = Object.entries(query)
    .filter(([name]) => !PAGE_PARAMETERS.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return hash('sha256', JSON.stringify([caller, fixed]), 'base64url').slice(0, 22);
}

function parse(cursor: string): (Cursor & { readonly digest: unknown }) | undefined {
  const [version, digest, start, end, position] = decodeOpaque(cursor) ?? [];
  if (version !== VERSION || !isAskable(start) || !isAskable(end) || typeof position !== 'string') {
    return undefined;
  }
  return start > end ? undefined : { range: { start, end }, position, digest };
}
