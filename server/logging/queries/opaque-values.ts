// Opaque strings that clients receive and send back: the cursor of the next page, and the id of a record. Both are
// untrusted input, and neither grants a permission.
import { hash } from 'node:crypto';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { type GroupResource, newInvalidParameter, StatusError } from '../../../apis/meta/v1/errors.ts';
import { isQueryable } from '../instant.ts';
import type { LogRecord, Selection } from '../log-store.ts';

/** Position of the next page. The range is that of the first page, so that new lines do not shift the pages. */
export interface Cursor {
  readonly range: Selection['range'];
  /** Defined by the store. */
  readonly position: string;
}

const CURSOR_VERSION = 1;
const INVALID_CURSOR = 'is not a cursor of this server; omit it for the first page';

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

/** `caller`: the user name. The position may contain a total, which depends on the permissions of the caller. */
export function writeCursor(query: LogQuery, caller: string, { range, position }: Cursor): string {
  return encodeOpaque([CURSOR_VERSION, queryDigest(query, caller), range.start, range.end, position]);
}

/** Throws BadRequest for an invalid cursor, and for one of another query or caller. */
export function readCursor(query: LogQuery, caller: string, cursor: string): Cursor {
  const parsed = parseCursor(cursor);
  if (!parsed) throw newInvalidParameter('cursor', INVALID_CURSOR);
  const { digest, ...rest } = parsed;
  if (digest !== queryDigest(query, caller)) {
    throw newInvalidParameter(
      'cursor',
      'belongs to another query or another caller: repeat all parameters except size, or omit it for the first page',
    );
  }
  return rest;
}

/** Validation error of a malformed cursor. Does not check that the cursor belongs to the query and caller. */
export function cursorError(cursor: string): string | undefined {
  return parseCursor(cursor) ? undefined : INVALID_CURSOR;
}

function queryDigest(query: LogQuery, caller: string): string {
  const fixed = Object.entries(query)
    .filter(([name]) => !PAGE_PARAMETERS.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return hash('sha256', JSON.stringify([caller, fixed]), 'base64url').slice(0, 22);
}

function parseCursor(cursor: string): (Cursor & { readonly digest: unknown }) | undefined {
  const [version, digest, start, end, position] = decodeOpaque(cursor) ?? [];
  if (
    version !== CURSOR_VERSION ||
    !isQueryable(start) ||
    !isQueryable(end) ||
    typeof position !== 'string'
  ) {
    return undefined;
  }
  return start > end ? undefined : { range: { start, end }, position, digest };
}

/** Identity of a record, as encoded in its `id`. */
export interface RecordID extends Omit<LogRecord, 'log'> {
  /** Distinguishes lines of the same container and nanosecond. */
  readonly digest: string;
}

const DIGEST_LENGTH = 16;
const INVALID_ID = 'is not the `id` of a record';

export function idOf({ time, namespace, pod, container, log }: LogRecord): string {
  return encodeOpaque([time, namespace, pod, container, lineDigest(log)]);
}

/** Throws BadRequest for an invalid id. */
export function parseRecordID(id: string): RecordID {
  const parsed = parseID(id);
  if (!parsed) throw newInvalidParameter('context', INVALID_ID);
  return parsed;
}

/** Validation error of a malformed id. Does not check that the record exists. */
export function recordIDError(id: string): string | undefined {
  return parseID(id) ? undefined : INVALID_ID;
}

export function isRecord({ time, log }: LogRecord, id: RecordID): boolean {
  return time === id.time && lineDigest(log) === id.digest;
}

/** The same error for a record that no longer exists and for one that the caller may not read. */
export function newRecordNotFound({ group, resource }: GroupResource, id: string): StatusError {
  const message = 'the record does not exist, or you may not read the logs of its namespace';
  return new StatusError(404, 'NotFound', `context: ${message}`, {
    name: id,
    group,
    kind: resource,
    causes: [{ reason: 'FieldValueNotFound', message, field: 'context' }],
  });
}

function lineDigest(log: string): string {
  return hash('sha256', log, 'base64url').slice(0, DIGEST_LENGTH);
}

function parseID(id: string): RecordID | undefined {
  const parts = decodeOpaque(id);
  if (parts?.length !== 5) return undefined;
  if (!parts.every((part) => typeof part === 'string')) return undefined;
  const [time = '', namespace = '', pod = '', container = '', digest = ''] = parts;
  return isQueryable(time) ? { time, namespace, pod, container, digest } : undefined;
}

function encodeOpaque(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Undefined for a value that encodeOpaque() did not create. */
function decodeOpaque(text: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}
