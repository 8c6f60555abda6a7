// Prometheus metrics of reflectors and informer caches.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ReflectorObserver } from '../cluster/reflector/reflector-options.ts';

/** Gauge values of one cache. */
interface CacheGauges {
  readonly synced: boolean;
  readonly watchers: number;
  readonly objects: number;
  /** Memory of the objects, in bytes. */
  readonly bytes: number;
  /** Maximum of `bytes`. Undefined without a maximum. */
  readonly maxBytes?: number | undefined;
  /** Time since the last proof that the cache is up to date, in ms. */
  readonly ageMs: number;
}

const FAILURES = ['error', 'backwards'];

/** The metrics of all reflectors and caches, created once per registry. */
export class CacheMetrics {
  readonly #lists: Counter<'resource' | 'way'>;
  readonly #listDuration: Histogram<'resource'>;
  readonly #watchEnds: Counter<'resource' | 'cause'>;
  readonly #version: Gauge<'resource'>;
  readonly #caches = new Map<string, () => CacheGauges>();
  /** Causes in `#watchEnds`. */
  readonly #causes = new Set(FAILURES);

  constructor(registry: Registry) {
    const registers = [registry];
    const caches = this.#caches;
    this.#lists = new Counter({
      name: 'reflector_lists_total',
      help: 'Complete lists of a reflector.',
      labelNames: ['resource', 'way'],
      registers,
    });
    this.#listDuration = new Histogram({
      name: 'reflector_list_duration_seconds',
      help: 'Duration of a complete list.',
      labelNames: ['resource'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers,
    });
    this.#watchEnds = new Counter({
      name: 'reflector_watch_ends_total',
      help: 'Watches of a reflector that ended, by cause; `end` is a normal end.',
      labelNames: ['resource', 'cause'],
      registers,
    });
    this.#version = new Gauge({
      name: 'reflector_last_resource_version',
      help: 'The resourceVersion that the cache has reached.',
      labelNames: ['resource'],
      registers,
    });
    cacheGauge(registry, caches, {
      name: 'cache_synced',
      help: '1 after the first complete list, else 0.',
      value: ({ synced }) => (synced ? 1 : 0),
    });
    cacheGauge(registry, caches, {
      name: 'cache_objects',
      help: 'Objects in the cache.',
      value: ({ objects }) => objects,
    });
    cacheGauge(registry, caches, {
      name: 'cache_bytes',
      help: 'Memory of objects, their values for lists, past events and past lists.',
      value: ({ bytes }) => bytes,
    });
    cacheGauge(registry, caches, {
      name: 'cache_max_bytes',
      help: 'Maximum of `cache_bytes`: half of the memory for all caches. Absent for a kind that only features need.',
      value: ({ maxBytes }) => maxBytes,
    });
    cacheGauge(registry, caches, {
      name: 'cache_age_seconds',
      help: 'Time since the last proof that the cache is up to date, about one per minute.',
      value: ({ ageMs }) => ageMs / 1000,
    });
    cacheGauge(registry, caches, {
      name: 'cache_watchers',
      help: 'Client watches and live lists served from the cache.',
      value: ({ watchers }) => watchers,
    });
  }

  /** Returns the observer of one resource. `resource`: `<plural>.<group>`. `gauges`: called at each scrape. */
  observe(resource: string, gauges: () => CacheGauges): ReflectorObserver {
    this.#caches.set(resource, gauges);
    // increase() in an alert counts the first failure only if the series exists before it.
    for (const cause of FAILURES) this.#watchEnds.inc({ resource, cause }, 0);
    // The reflector of a resource that is not followed any more can report a last event.
    const followed = (): boolean => this.#caches.get(resource) === gauges;
    return {
      listed: (way, seconds) => {
        if (!followed()) return;
        this.#lists.inc({ resource, way });
        this.#listDuration.observe({ resource }, seconds);
      },
      watchEnded: (cause) => {
        if (!followed()) return;
        this.#causes.add(cause);
        this.#watchEnds.inc({ resource, cause });
      },
      progressed: (resourceVersion) => {
        // A gauge is a double, so it loses the last digits of a resourceVersion above 2^53. Progress is still visible.
        if (followed()) this.#version.set({ resource }, Number(resourceVersion));
      },
    };
  }

  /** Removes the metrics of a resource that is not followed any more. */
  remove(resource: string): void {
    this.#caches.delete(resource);
    this.#version.remove({ resource });
    this.#listDuration.remove({ resource });
    for (const way of ['stream', 'pages']) this.#lists.remove({ resource, way });
    for (const cause of this.#causes) this.#watchEnds.remove({ resource, cause });
  }
}

interface CacheGauge {
  readonly name: string;
  readonly help: string;
  readonly value: (gauges: CacheGauges) => number | undefined;
}

function cacheGauge(
  registry: Registry,
  caches: ReadonlyMap<string, () => CacheGauges>,
  { name, help, value }: CacheGauge,
): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      labelNames: ['resource'],
      registers: [],
      collect() {
        // Removes the values of resources that are not followed any more.
        this.reset();
        for (const [resource, gauges] of caches) {
          const number = value(gauges());
          if (number !== undefined) this.set({ resource }, number);
        }
      },
    }),
  );
}
