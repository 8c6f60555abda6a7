import { eventMetadata } from './object-metadata.ts';
import type { Member } from './raw-json.ts';
import { TruncatedListError } from './reflector-failure.ts';
import type { StreamedEvent } from './watch-stream.ts';

/**
 * Takes the initial events of a watch, hands over each object as raw JSON, a slice to be copied if kept, and leaves the
 * stream where it goes on with changes. Returns the resourceVersion of the list. Throws TruncatedListError when the
 * events end, or changes come, before the bookmark that makes them a list.
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
