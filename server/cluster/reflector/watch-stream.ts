// Client for watches of kube-apiserver: converts the response into watch events. Streaming lists (WatchList) are
// supported.
import { parseBoundedJSON } from '../../../apis/reading/bounded-json.ts';
import { OPEN_BRACE } from '../../../apis/reading/json-bytes.ts';
import { LineSplitter } from '../../../apis/reading/line-splitter.ts';
import { text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../connection/client.ts';
import { statusErrorOf } from '../connection/response-body.ts';
import { openStream, type StreamRequest } from '../connection/response-stream.ts';
import { type Member, memberNamed, nestedMembers, objectMembers } from './raw-json.ts';
import { TruncatedListError, UnversionedError } from './reflector-retry.ts';
import { isComparable } from './resource-version.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A watch event with its object as raw JSON. The buffer is reused, so the caller copies what it stores. */
export interface StreamedEvent {
  readonly type: ChangeType | 'BOOKMARK';
  readonly object: Buffer;
  /** Members of the object. */
  readonly members: readonly Member[];
}

interface WatchRequest extends StreamRequest {
  /** Query parameters, except `watch` and `allowWatchBookmarks`. */
  readonly query: Readonly<Record<string, string>>;
  /** Maximum line length in bytes. */
  readonly lineLimit: number;
  /** Called when the response headers arrive. */
  readonly began?: () => void;
}

/**
 * Yields the events of one watch request. Ends normally when kube-apiserver ends the stream. Throws a StatusError for a
 * rejected request or an ERROR event, and the error of a broken connection.
 */
export async function* watchStream(
  client: ClusterClient,
  request: WatchRequest,
): AsyncGenerator<StreamedEvent> {
  const parameters = { ...request.query, watch: 'true', allowWatchBookmarks: 'true' };
  const chunks = await openStream(client, request, parameters);
  request.began?.();
  const lines = new LineSplitter(request.lineLimit);
  for await (const chunk of chunks) {
    for (const line of lines.push(chunk)) yield decodeEvent(line);
  }
  if (lines.midLine) throw new SyntaxError('the watch ended in the middle of an event');
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
  if (type === 'ERROR') throw statusErrorOf(500, parseBoundedJSON(object));
  throw new SyntaxError(`a watch event of the unknown type ${JSON.stringify(type)}`);
}

/** The metadata that the reflector needs. The object is not parsed otherwise. */
export interface EventMetadata {
  /** Empty for a bookmark, as is the uid. */
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** True for the bookmark that ends the initial events of a streaming list. */
  readonly initialEventsEnd: boolean;
}

/**
 * Reads the metadata of an object. `managedFields` and others are not parsed, because tenants can fill them with a hundred
 * thousand members. `members`: those of the object, if the caller has already scanned it.
 */
export function eventMetadata(
  object: Buffer,
  members: readonly Member[] = objectMembers(object),
): EventMetadata {
  const metadata = membersIn(object, memberNamed(members, 'metadata'));
  const read = (name: string, fields = metadata): unknown => {
    const field = memberNamed(fields, name);
    return field && JSON.parse(object.toString('utf8', field.start, field.end));
  };
  const resourceVersion = read('resourceVersion');
  if (!isComparable(resourceVersion)) throw new UnversionedError();
  const annotations = membersIn(object, memberNamed(metadata, 'annotations'));
  return {
    name: text(read('name')),
    uid: text(read('uid')),
    resourceVersion,
    initialEventsEnd: read('k8s.io/initial-events-end', annotations) === 'true',
  };
}

/** Returns the fields of an object inside of `bytes`; none if it is missing, or is not an object. */
function membersIn(bytes: Buffer, object: Member | undefined): readonly Member[] {
  return object && bytes[object.start] === OPEN_BRACE ? objectMembers(bytes, object.start) : [];
}

/**
 * Consumes the initial events of a watch; `events` then continues with the changes. Passes each object to `onItem` as
 * raw JSON in a reused buffer. Returns the resourceVersion of the list. Throws TruncatedListError if the stream ends,
 * or a change arrives, before the bookmark that completes the list.
 */
export async function streamedList(
  events: AsyncGenerator<StreamedEvent>,
  onItem: (object: Buffer, members: readonly Member[]) => void,
): Promise<string> {
  for (;;) {
    const next = await events.next();
    if (next.done) throw new TruncatedListError();
    const { type, object, members } = next.value;
    if (type === 'BOOKMARK') {
      const { resourceVersion, initialEventsEnd } = eventMetadata(object, members);
      if (initialEventsEnd) return resourceVersion;
    } else if (type === 'ADDED') {
      onItem(object, members);
    } else {
      throw new TruncatedListError();
    }
  }
}
