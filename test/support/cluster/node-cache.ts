// Creates an informer cache of nodes without a cluster. Tests write to the cache in place of a reflector.
import { performance } from 'node:perf_hooks';
import { InformerCache } from '../../../server/cache/informer-cache.ts';
import { nodeDefinition } from '../../../server/nodes/nodes.ts';
import { NODES } from '../../../server/resources/kind.ts';
import { kindProfile } from '../../../server/resources/profiles/kind-profiles.ts';
import type { KindFacts } from '../../../server/resources/profiles/kind-values.ts';

export const nodeProfile = kindProfile(NODES, 'platform.io');
export const nodes = nodeDefinition('resources.platform.io', nodeProfile);

export interface PlainNode {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [member: string]: unknown;
  };
  readonly [member: string]: unknown;
}

/** Returns a node as kube-apiserver lists it. `more`: further top-level fields. */
export function node(
  name: string,
  resourceVersion: number,
  labels: Readonly<Record<string, string>> = {},
  more: object = {},
): PlainNode {
  return {
    metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), labels },
    ...more,
  };
}

export class NodeCache {
  readonly cache: InformerCache<KindFacts>;

  constructor(window = { events: 1024, ageMs: 300_000, bytes: 32 << 20 }) {
    this.cache = new InformerCache({
      definition: nodes,
      log: { info: () => undefined, warn: () => undefined },
      window,
      history: { snapshots: 64, ageMs: 300_000, bytes: 32 << 20 },
      probe: () => Promise.resolve(),
      waitMs: 50,
      now: () => performance.now(),
    });
  }

  /** Replaces the content by a complete list. */
  fill(resourceVersion: number, objects: Iterable<PlainNode>): void {
    const replacement = this.cache.replacement();
    for (const object of objects) replacement.add(Buffer.from(JSON.stringify(object)));
    replacement.commit(String(resourceVersion));
  }

  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: PlainNode): void {
    this.cache.apply(type, Buffer.from(JSON.stringify({ kind: 'Node', apiVersion: 'v1', ...object })));
  }
}
