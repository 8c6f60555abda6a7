import { hash } from 'node:crypto';
import { type GroupResource, newInvalidParameter, StatusError } from '../../../apis/meta/v1/errors.ts';
import { isAskable } from '../instant.ts';
import type { LogRecord } from '../log-store.ts';
import { decodeOpaque, encodeOpaque } from './cursor.ts';

/** The identity of a record in an `id`. It comes from the caller, so it grants no permission. */
export interface RecordID extends Omit<LogRecord, 'log'> {
  /** Distinguishes lines of the same container and nanosecond. */
  readonly digest: string;
}

const DIGEST_LENGTH = 16;
const INVALID = 'is not the `id` of a record';

export function idOf({ time, namespace, pod, container, log }: LogRecord): string {
  return encodeOpaque([time, namespace, pod, container, digestOf(log)]);
}

/** Throws BadRequest for an invalid id. */
export function parseRecordID(id: string): RecordID {
  const parsed = parse(id);
  if (!parsed) throw newInvalidParameter('context', INVALID);
  return parsed;
}

/** The validation error of an id, whether or not the record exists. */
export function recordIDError(id: string): string | undefined {
  return parse(id) ? undefined : INVALID;
}

export function isRecord({ time, log }: LogRecord, id: RecordID): boolean {
  return time === id.time && digestOf(log) === id.digest;
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

function digestOf(log: string): string {
  return hash('sha256', log, 'base64url').slice(0, DIGEST_LENGTH);
}

function parse(id: string): RecordID | undefined {
  const parts = decodeOpaque(id);
  if (parts?.length !== 5) return undefined;
  if (!parts.every((part) => typeof part === 'string')) return undefined;
  const [time = '', namespace = '', pod = '', container = '', digest = ''] = parts;
  return isAskable(time) ? { time, namespace, pod, container, digest } : undefined;
}
