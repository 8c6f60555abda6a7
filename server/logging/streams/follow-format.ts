// How lines are written that are followed: one JSON document a line, or Server-Sent Events for who accepts those.
import type { AnsweredRecord, Shortfall } from '../../../apis/logging/v1alpha2/log-answer.ts';
import { parseAccept } from '../../endpoints/accept.ts';
import type { Instant } from '../log-store.ts';

export interface FollowFormat {
  readonly contentType: string;
  /** `idOf`: where a reader that has seen the record so far goes on from. */
  lines(records: readonly AnsweredRecord[], idOf: (record: AnsweredRecord) => Instant): string;
  /** Says that the connection lives, and nothing else. */
  readonly heartbeat: string;
  /** From where to go on while there are no lines that tell; empty where clients are not told. */
  position(id: Instant): string;
  /** Why it ends, where that is worth saying. */
  failure(shortfall: Shortfall): string;
}

const NDJSON: FollowFormat = {
  contentType: 'application/x-ndjson',
  lines: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  heartbeat: '\n',
  position: () => '',
  failure: (error) => `${JSON.stringify({ error })}\n`,
};

/**
 * JSON has no newlines of its own, so each event is one line of data. An EventSource that comes back sends the last id,
 * and resumption.ts reads it. The heartbeat is a comment without an empty line, which some clients take for an event; and
 * some forget an id that comes without data, so a position has some, of a type that nobody is given unasked.
 */
const EVENTS: FollowFormat = {
  contentType: 'text/event-stream',
  lines: (records, idOf) =>
    records.map((record) => `id: ${idOf(record)}\ndata: ${JSON.stringify(record)}\n\n`).join(''),
  heartbeat: ':\n',
  position: (id) => `event: position\nid: ${id}\ndata: ${JSON.stringify({ time: id })}\n\n`,
  failure: (error) => `event: failure\ndata: ${JSON.stringify(error)}\n\n`,
};

export function followFormat(accept: string | undefined): FollowFormat {
  const named = parseAccept(accept ?? '').some(
    ({ type, subtype }) => type === 'text' && subtype === 'event-stream',
  );
  return named ? EVENTS : NDJSON;
}
