// Prometheus metrics of the watches that clients open at this server.
import { Counter, type Registry } from 'prom-client';
import type { ResourceDefinition } from '../resources/resource-definition.ts';
import type { WatchObserver } from './watch.ts';

type WatchedResource = Pick<ResourceDefinition<unknown>, 'group' | 'version' | 'plural'>;

interface Sums {
  events: number;
  bytes: number;
}

/** The metrics of all watches, created once per registry. `observe` returns the observer of one resource. */
export class WatchMetrics {
  readonly #ends: Counter<'group' | 'version' | 'resource' | 'cause'>;
  /**
   * Sums that each scrape reads. A change can be sent thousands of times, and updating a labeled counter costs more.
   */
  readonly #sums = new Map<WatchedResource, Sums>();

  constructor(registry: Registry) {
    const sums = this.#sums;
    const registers = [registry];
    const labelNames = ['group', 'version', 'resource'] as const;
    this.#ends = new Counter({
      name: 'apiserver_watch_ends_total',
      help: 'Client watches that ended, by cause; `slow`: the client was too slow.',
      labelNames: [...labelNames, 'cause'],
      registers,
    });
    const counter = (name: string, help: string, value: (sum: Sums) => number): Counter =>
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [resource, sum] of sums) this.inc(labelsOf(resource), value(sum));
        },
      });
    counter('apiserver_watch_events_total', 'Events sent to client watches.', ({ events }) => events);
    counter('apiserver_watch_bytes_total', 'Bytes of events sent to client watches.', ({ bytes }) => bytes);
  }

  observe(resource: WatchedResource): WatchObserver {
    const sum: Sums = { events: 0, bytes: 0 };
    this.#sums.set(resource, sum);
    return {
      sent: (events, bytes) => {
        sum.events += events;
        sum.bytes += bytes;
      },
      ended: (cause) => this.#ends.inc({ ...labelsOf(resource), cause }),
    };
  }
}

function labelsOf({
  group,
  version,
  plural,
}: WatchedResource): Record<'group' | 'version' | 'resource', string> {
  return { group, version, resource: plural };
}
