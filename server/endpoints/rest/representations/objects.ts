// Objects as they are: cached bytes with nothing but a frame around them.
import type { ListMeta } from '../../../../apis/meta/v1/table.ts';
import type { WatchEvent, WatchEventType } from '../../../cache/events/watch-event.ts';
import { LINE_END, LINE_STARTS, line } from '../../../cache/events/watch-line.ts';
import type { CachedObject } from '../../../cache/objects/cached-object.ts';
import type { ResourceDefinition } from '../../../resources/resource-definition.ts';
import { bookmarkMetadata, type ListFrame, newListFrame, type Representation } from './representation.ts';

/** Shared by all requests for a resource; keeps nothing of any of them. */
export class Objects<Facts> implements Representation<Facts> {
  readonly #kind: string;
  readonly #listKind: string;
  readonly #apiVersion: string;

  constructor(definition: ResourceDefinition<Facts>) {
    this.#kind = definition.kind;
    this.#listKind = definition.listKind;
    this.#apiVersion = `${definition.group}/${definition.version}`;
  }

  one(object: CachedObject<Facts>): Buffer {
    return object.bytes;
  }

  list(meta: ListMeta): ListFrame {
    return newListFrame({ kind: this.#listKind, apiVersion: this.#apiVersion, metadata: meta });
  }

  item(object: CachedObject<Facts>): Buffer {
    return object.bytes;
  }

  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer {
    return event.frame(type);
  }

  initial(object: CachedObject<Facts>): readonly Buffer[] {
    return [LINE_STARTS.ADDED, object.bytes, LINE_END];
  }

  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer {
    const metadata = bookmarkMetadata(resourceVersion, initialEventsEnd);
    const object = { kind: this.#kind, apiVersion: this.#apiVersion, metadata };
    return line('BOOKMARK', Buffer.from(JSON.stringify(object)));
  }
}
