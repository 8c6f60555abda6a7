import type { ClusterClient } from '../connection/client.ts';
import { type LiveRequest, liveAnswer } from '../connection/live-answer.ts';
import { statusErrorOf } from '../connection/status-response.ts';
import { LineSplitter } from './line-splitter.ts';
import { type Member, memberNamed, nestedMembers } from './raw-json.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch, with its object unparsed: a slice of bytes that may be shared, to be copied if kept. */
export interface StreamedEvent {
  readonly type: ChangeType | 'BOOKMARK';
  readonly object: Buffer;
  /** Of the object. */
  readonly members: readonly Member[];
}

export interface WatchRequest extends LiveRequest {
  /** Parameters besides `watch` and `allowWatchBookmarks`. */
  readonly query: Readonly<Record<string, string>>;
  /** The longest line, in bytes. */
  readonly lineLimit: number;
  /** Called once the response headers are here. */
  readonly began?: () => void;
}

/**
 * The events of one watch request. Ends normally when kube-apiserver ends the stream; throws its Status when it
 * refuses the request or sends an ERROR event, and whatever broke the connection otherwise.
 */
export async function* watchStream(
  client: ClusterClient,
  request: WatchRequest,
): AsyncGenerator<StreamedEvent> {
  const parameters = { ...request.query, watch: 'true', allowWatchBookmarks: 'true' };
  const answer = await liveAnswer(client, request, parameters);
  request.began?.();
  const lines = new LineSplitter(request.lineLimit);
  for await (const chunk of answer) {
    for (const line of lines.push(chunk)) yield decodeEvent(line);
  }
  if (lines.midLine) throw new SyntaxError('the watch was cut in the middle of an event');
}

function decodeEvent(line: Buffer): StreamedEvent {
  const { members: envelope, inner } = nestedMembers(line, 'object');
  const typeMember = memberNamed(envelope, 'type');
  if (!typeMember || !inner) throw new SyntaxError('a watch event without type or object');
  const type: unknown = JSON.parse(line.toString('utf8', typeMember.start, typeMember.end));
  const { bytes: object, members } = inner;
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK') {
    return { type, object, members };
  }
  if (type === 'ERROR') throw statusErrorOf(500, JSON.parse(object.toString('utf8')));
  throw new SyntaxError(`a watch event of the unknown type ${JSON.stringify(type)}`);
}
