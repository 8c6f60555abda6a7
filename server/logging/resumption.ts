// Where a live tail goes on for an EventSource that comes back: the id of an event is the time of its line.
import type { IncomingHttpHeaders } from 'node:http';
import { newBadRequest } from '../../apis/meta/v1/errors.ts';
import { instantOf, isAskable, millisecondsOf } from './instant.ts';
import type { Instant } from './log-store.ts';

/** Lines of several containers come roughly in order only: one that is older may not have been shown yet. */
const LATE_MS = 2_000;

/** Undefined for a client that has seen nothing yet. Throws BadRequest for an id that is not one of our events'. */
export function resumedFrom({ 'last-event-id': id }: IncomingHttpHeaders): Instant | undefined {
  if (id === undefined || id === '') return undefined;
  if (isAskable(id)) return instantOf(Math.max(0, millisecondsOf(id) - LATE_MS));
  const message = 'is not the id of an event of a live tail; leave it out to begin anew';
  throw newBadRequest(`the query is not valid: Last-Event-ID: ${message}`, [
    { reason: 'FieldValueInvalid', message, field: 'Last-Event-ID' },
  ]);
}
