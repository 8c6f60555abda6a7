// Test fixture: a followed kind and its copy, without a cluster. The test writes the objects to the cache.
import { LRUCache } from 'lru-cache';
import { pino } from 'pino';

import { PackedFrames } from '../../../server/cache/stored-object.ts';
import { TimeSlicer } from '../../../server/concurrency/time-slicer.ts';
import type { PlatformLists } from '../../../server/lists/kind-lists.ts';
import { newKindLists } from '../../../server/lists/lists.ts';
import { apiVersionOf, type Kind } from '../../../server/resources/kind.ts';
import { FollowedKind } from '../../../server/resources/kinds/followed-kind.ts';
import { KindCopies } from '../../../server/resources/kinds/kind-copies.ts';
import type { HeldCopy, KindCopy } from '../../../server/resources/kinds/kind-copy.ts';

/** A custom resource with printer columns and a selectable field. */
export const WIDGETS: Kind = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: {
    revision: '1',
    listKind: 'WidgetList',
    columns: [
      { name: 'Size', jsonPath: '.spec.size', type: 'integer' },
      { name: 'Color', jsonPath: '.spec.color', type: 'string' },
    ],
    selectableFields: ['.spec.color'],
  },
};

export interface PlainObject {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** Returns an object as kube-apiserver lists it. `key`: `name`, or `namespace/name`. */
export function plain(
  key: string,
  resourceVersion: number,
  metadata: object = {},
  more: object = {},
): PlainObject {
  const [name = '', namespace] = key.split('/').toReversed();
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid: `uid-${key}`,
      resourceVersion: String(resourceVersion),
      ...metadata,
    },
    ...more,
  };
}

/** Returns the copy of a kind, which nothing keeps up to date. */
function copyOf(kind: Kind): KindCopy {
  const none = (): never => {
    throw new Error('there is no cluster');
  };
  const copies = new KindCopies({
    client: { open: none, json: none },
    log: pino({ level: 'silent' }),
    domain: 'platform.io',
    features: { podLogs: true, nodeUsage: true },
    frames: new PackedFrames(),
  });
  return copies.hold(kind, 'objects');
}

export class KindCache extends FollowedKind implements HeldCopy {
  readonly bodies = new LRUCache<string, Buffer>({
    maxSize: 1 << 20,
    sizeCalculation: ({ length }) => length,
  });
  readonly lists: PlatformLists;

  constructor(kind: Kind, slicer = new TimeSlicer()) {
    super(kind, copyOf(kind), slicer);
    this.lists = newKindLists(this, 'resources.platform.io', this);
  }

  override get ageMs(): number {
    return 0;
  }

  get isStale(): boolean {
    return !this.synced;
  }

  /** Replaces the content by a complete list. */
  fill(resourceVersion: number, objects: Iterable<PlainObject>): this {
    const replacement = this.cache.replacement();
    for (const object of objects) replacement.add(Buffer.from(JSON.stringify(object)));
    replacement.commit(String(resourceVersion));
    return this;
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: PlainObject): void {
    const whole = { kind: this.kind.kind, apiVersion: apiVersionOf(this.kind), ...object };
    this.cache.apply(type, Buffer.from(JSON.stringify(whole)));
  }
}
