// The forms in which objects go out: as they are, as PartialObjectMetadata, or as rows of a Table.
// Each makes answers and events out of cached objects; which one a caller takes is decided next door (negotiator.ts).
import type { ListMeta } from '../../../../apis/meta/v1/table.ts';
import type { WatchEvent, WatchEventType } from '../../../cache/events/watch-event.ts';
import type { CachedObject } from '../../../cache/objects/cached-object.ts';

/** Lines of a watch, each ending in a newline. */
export interface WatchRepresentation<Facts> {
  /** What a watcher gets who is to see `type`. */
  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer;
  /** The ADDED event of an object that was there before the watch, in parts: they are copied only once, together. */
  initial(object: CachedObject<Facts>): readonly Buffer[];
  /** `initialEventsEnd` marks the bookmark behind the last of the initial events. */
  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer;
}

export interface Representation<Facts> extends WatchRepresentation<Facts> {
  /** The body of a get, without the newline behind it. */
  one(object: CachedObject<Facts>): Buffer;
  list(meta: ListMeta): ListFrame;
  /** What stands between the list's start and end, comma-separated. */
  item(object: CachedObject<Facts>): Buffer;
}

export interface ListFrame {
  readonly start: Buffer;
  readonly end: Buffer;
}

export const LIST_END = Buffer.from(']}\n');

/** Of a list with these members in front of its items. */
export function newListFrame(head: { kind: string; apiVersion: string; metadata: ListMeta }): ListFrame {
  return { start: Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`), end: LIST_END };
}

const COMMA = Buffer.from(',');

/** The bytes of a whole list; those of an item are made when it is its turn. */
export function* framed<Item>(
  { start, end }: ListFrame,
  items: readonly Item[],
  partsOf: (item: Item) => Iterable<Buffer>,
): Generator<Buffer> {
  yield start;
  for (const [index, item] of items.entries()) {
    if (index > 0) yield COMMA;
    yield* partsOf(item);
  }
  yield end;
}

/** The annotation by which clients know that the initial events are complete. */
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' } as const;

/** The metadata of a bookmark's object. */
export function bookmarkMetadata(resourceVersion: string, initialEventsEnd: boolean): object {
  return {
    resourceVersion,
    ...(initialEventsEnd ? { annotations: INITIAL_EVENTS_END } : {}),
  };
}
