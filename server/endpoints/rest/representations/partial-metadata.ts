// PartialObjectMetadata: what metadata informers and the garbage collector ask for.
import type { ListMeta } from '../../../../apis/meta/v1/table.ts';
import type { WatchEvent, WatchEventType } from '../../../cache/events/watch-event.ts';
import { LINE_END, LINE_STARTS, line } from '../../../cache/events/watch-line.ts';
import type { CachedObject } from '../../../cache/objects/cached-object.ts';
import { bookmarkMetadata, type ListFrame, newListFrame, type Representation } from './representation.ts';

const OBJECT_END = Buffer.from('}');

export type MetaAPIVersion = 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1';

export class PartialMetadata<Facts> implements Representation<Facts> {
  readonly #apiVersion: MetaAPIVersion;
  readonly #start: Buffer;

  constructor(apiVersion: MetaAPIVersion) {
    this.#apiVersion = apiVersion;
    this.#start = Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"${apiVersion}","metadata":`);
  }

  one(object: CachedObject<Facts>): Buffer {
    return Buffer.concat([this.#start, object.metadata, OBJECT_END]);
  }

  list(meta: ListMeta): ListFrame {
    return newListFrame({ kind: 'PartialObjectMetadataList', apiVersion: this.#apiVersion, metadata: meta });
  }

  item(object: CachedObject<Facts>): Buffer {
    return this.one(object);
  }

  event(event: WatchEvent<Facts>, type: WatchEventType): Buffer {
    return line(type, this.one(event.objectFor(type)));
  }

  initial(object: CachedObject<Facts>): readonly Buffer[] {
    return [LINE_STARTS.ADDED, this.#start, object.metadata, OBJECT_END, LINE_END];
  }

  bookmark(resourceVersion: string, initialEventsEnd: boolean): Buffer {
    const metadata = Buffer.from(JSON.stringify(bookmarkMetadata(resourceVersion, initialEventsEnd)));
    return line('BOOKMARK', Buffer.concat([this.#start, metadata, OBJECT_END]));
  }
}
