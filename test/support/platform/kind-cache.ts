// Test fixture: the informer cache of one kind, without a cluster. The test writes the objects to the cache.
import { LRUCache } from 'lru-cache';

import { InformerCache } from '../../../server/cache/informer-cache.ts';
import type { ObjectSnapshot } from '../../../server/cache/object-snapshot.ts';
import type { ObjectHead } from '../../../server/cache/resource-cache.ts';
import { PackedFrames } from '../../../server/cache/stored-object.ts';
import { TimeSlicer } from '../../../server/concurrency/time-slicer.ts';
import { KindLists } from '../../../server/lists/kind-lists.ts';
import { apiVersionOf, type Kind, sourcePath } from '../../../server/resources/kind.ts';
import type { ListedKind } from '../../../server/resources/kinds/followed-kind.ts';
import type { HeldCopy } from '../../../server/resources/kinds/kind-copies.ts';
import { ListIndex } from '../../../server/resources/lists/list-index.ts';
import { kindProfile } from '../../../server/resources/profiles/kind-profiles.ts';
import type { KindFacts } from '../../../server/resources/profiles/kind-values.ts';
import { PLATFORM_PATH } from './platform-lists.ts';

/** A custom resource with printer columns and a selectable field. */
export const WIDGETS: Kind = {
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
  custom: {
    revision: '1',
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

export class KindCache implements ListedKind<KindFacts>, HeldCopy {
  readonly kind: Kind;
  readonly profile;
  readonly index: ListIndex<KindFacts>;
  readonly cache: InformerCache<KindFacts>;
  readonly bodies = new LRUCache<string, Buffer>({
    maxSize: 1 << 20,
    sizeCalculation: ({ length }) => length,
  });
  readonly lists: KindLists<KindFacts>;

  constructor(kind: Kind, slicer = new TimeSlicer()) {
    this.kind = kind;
    const features = { podLogs: true, nodeUsage: true };
    this.profile = kindProfile(kind, 'platform.io', undefined, features);
    this.index = new ListIndex(this.profile, slicer);
    this.cache = new InformerCache({
      definition: {
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
        source: { path: sourcePath(kind) },
        bareItems: !kind.custom,
        facts: (object) => this.profile.facts(object),
      },
      log: { info: () => undefined, warn: () => undefined },
      window: { events: 0, ageMs: 300_000, bytes: 0 },
      history: { snapshots: 0, ageMs: 300_000, bytes: 0 },
      probe: () => Promise.resolve(),
      waitMs: 50,
      now: () => performance.now(),
      frames: new PackedFrames(),
    });
    const apiVersion = apiVersionOf(kind);
    this.lists = new KindLists({
      listed: this,
      path: PLATFORM_PATH,
      apiVersion,
      slicer,
      bodies: this.bodies,
    });
  }

  readonly ageMs = 0;

  get synced(): boolean {
    return this.cache.synced;
  }

  get isStale(): boolean {
    return !this.synced;
  }

  get head(): ObjectHead {
    return this.cache.head;
  }

  snapshot(): ObjectSnapshot<KindFacts> {
    return this.cache.snapshot();
  }

  onChange(changed: () => void): () => void {
    return this.cache.onChange(changed);
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
