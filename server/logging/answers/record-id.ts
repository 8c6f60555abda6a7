import { hash } from 'node:crypto';
import { type GroupResource, newInvalidParameter, StatusError } from '../../../apis/meta/v1/errors.ts';
import { isAskable } from '../instant.ts';
import type { LogRecord } from '../log-store.ts';
import { broughtBack, handedOut } from './handed-out.ts';

/** What an `id` says of its record. It is the caller's, so it gives no right to anything. */
export interface RecordID extends Omit<LogRecord, 'log'> {
  readonly digest: string;
}

/** Enough to tell lines of the same nanosecond and container apart. */
const DIGEST_LENGTH = 16;

export function digestOf(log: string): string {
  return hash('sha256', log, 'base64url').slice(0, DIGEST_LENGTH);
}

export function idOf({ time, namespace, pod, container, log }: LogRecord): string {
  return handedOut([time, namespace, pod, container, digestOf(log)]);
}

/** Throws BadRequest for what no record is called. */
export function parseRecordID(id: string): RecordID {
  const read = parse(id);
  if (read) return read;
  throw newInvalidParameter('context', NO_ID);
}

const NO_ID = 'is not the id of a record, as answers tell it in `id`';

/** What is wrong with it, whether or not there is such a record; undefined when nothing is. */
export function recordIDFault(id: string): string | undefined {
  return parse(id) ? undefined : NO_ID;
}

/** The same for one that is gone and for one that the caller may not see. */
export function newRecordNotFound({ group, resource }: GroupResource, id: string): StatusError {
  const message = 'the record is gone, or in a namespace whose logs you may not read';
  return new StatusError(404, 'NotFound', `context: ${message}`, {
    name: id,
    group,
    kind: resource,
    causes: [{ reason: 'FieldValueNotFound', message, field: 'context' }],
  });
}

function parse(id: string): RecordID | undefined {
  const parts = broughtBack(id);
  if (parts?.length !== 5) return undefined;
  if (!parts.every((part) => typeof part === 'string')) return undefined;
  const [time = '', namespace = '', pod = '', container = '', digest = ''] = parts;
  return isAskable(time) ? { time, namespace, pod, container, digest } : undefined;
}
