// What watchers are told of: this folder makes a change once for all of them, keeps the latest, and fans them out. It
// knows no selections and no sockets.
import type { CachedObject } from '../objects/cached-object.ts';
import { ownBytes, placeObject, type ReadObject } from '../objects/object-reader.ts';
import { withResourceVersion } from '../objects/object-splice.ts';
import type { WatchEvent, WatchEventType } from './watch-event.ts';
import { LINE_END, LINE_STARTS, line } from './watch-line.ts';

/**
 * A change whose frame is where its object's bytes live: they are written once, as part of the line that most
 * watchers get. It keeps alive nothing but itself and the former object.
 */
export class Change<Facts> implements WatchEvent<Facts> {
  readonly type: WatchEventType;
  readonly resourceVersion: bigint;
  readonly object: CachedObject<Facts>;
  readonly previous: CachedObject<Facts> | undefined;
  readonly #frames = new Map<WatchEventType, Buffer>();
  #lastSelected: CachedObject<Facts> | undefined;

  constructor(type: WatchEventType, read: ReadObject<Facts>, previous: CachedObject<Facts> | undefined) {
    const start = LINE_STARTS[type];
    const frame = Buffer.allocUnsafeSlow(start.length + read.spliced.length + LINE_END.length);
    start.copy(frame);
    LINE_END.copy(frame, frame.length - LINE_END.length);
    this.type = type;
    this.resourceVersion = BigInt(read.identity.resourceVersion);
    this.object = placeObject(read.identity, read.spliced, frame, start.length);
    this.previous = previous && ownBytes(previous);
    this.#frames.set(type, frame);
  }

  /** Bytes of memory that it holds. */
  get size(): number {
    return this.object.bytes.length + (this.previous?.bytes.length ?? 0);
  }

  objectFor(type: WatchEventType): CachedObject<Facts> {
    if (type !== 'DELETED' || this.type === 'DELETED' || !this.previous) return this.object;
    this.#lastSelected ??= this.#previousAtThisVersion(this.previous);
    return this.#lastSelected;
  }

  frame(type: WatchEventType): Buffer {
    let frame = this.#frames.get(type);
    if (!frame) {
      frame = line(type, this.objectFor(type).bytes);
      this.#frames.set(type, frame);
    }
    return frame;
  }

  #previousAtThisVersion(previous: CachedObject<Facts>): CachedObject<Facts> {
    const resourceVersion = this.resourceVersion.toString();
    const spliced = withResourceVersion(previous.bytes, previous.metadata, resourceVersion);
    const bytes = Buffer.allocUnsafeSlow(spliced.length);
    return placeObject({ ...previous, resourceVersion }, spliced, bytes, 0);
  }
}
