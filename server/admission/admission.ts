// Admission: the pools of seats of the whole server by name, with their metrics. Each pool bounds one type of work.
import { Counter, Gauge, type Registry } from 'prom-client';
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { Seats, type SeatsOptions } from './seats.ts';

/** The pools of requests from clients. */
export interface RequestPools {
  /** Requests that this server handles itself. */
  readonly requests: Seats;
  /** Requests that the gateway forwards: kube-apiserver can let them hang, so they have seats of their own. */
  readonly gateway: Seats;
  /** Health, discovery and `system:masters`: never behind the requests of others. */
  readonly exempt: Seats;
  /** Watches, live lists and other streams of this server. */
  readonly streams: Seats;
  readonly gatewayStreams: Seats;
  /** Requests that wait for their client: its body is incomplete, or it does not read the response. */
  readonly stalled: Seats;
}

interface RequestLimits {
  readonly requests: { readonly seats: number; readonly streams: number };
}

/** Maximum number of streams of the gateway: each one has two connections with their buffers. */
export const GATEWAY_STREAMS = 5_000;
/** Maximum wait of a request for its seat, in ms. */
export const WAIT_MS = 5_000;
const BUSY = 'Too many requests, please try again later.';

/** Concurrent requests to kube-apiserver that decide about callers, such as reviews. */
export const LOOKUPS = 64;
/**
 * Concurrent reviews of the namespaces of lists. A list needs up to a thousand, so they are few: with 64, the p99 of a forwarded get
 * rose from 6 to 330 ms on two cores while one caller sent such lists, with 16 to 40 ms.
 */
export const NAMESPACE_REVIEWS = 16;
/** Waiting lookups, and their maximum wait in ms. */
export const WAITING_LOOKUPS = 4_096;
export const LOOKUP_WAIT_MS = 10_000;
/** Without a seat in this time, the gateway forwards the read. */
const CALLER_REVIEW_WAIT_MS = 1_000;

export class Admission {
  readonly #pools = new Map<string, Seats>();

  constructor(registry?: Registry) {
    if (registry) this.#collect(registry);
  }

  /** Creates a pool. By default, its refusal is 429. */
  pool(name: string, options: Omit<SeatsOptions, 'refusal'> & Partial<SeatsOptions>): Seats {
    const refusal = (): Error => newTooManyRequests(BUSY, 1);
    const seats = new Seats({ refusal, ...options });
    this.#pools.set(name, seats);
    return seats;
  }

  requestPools({ requests }: RequestLimits): RequestPools {
    const ordinary = (name: string, capacity: number): Seats =>
      this.pool(name, { capacity, sharing: 'reserve', waiting: capacity, waitMs: WAIT_MS });
    const preemption = (): Error =>
      newTooManyRequests('the stream ended, because another caller needs one of your streams', 1);
    const streams = (name: string, capacity: number): Seats =>
      this.pool(name, { capacity, sharing: 'preempt', preemption });
    return {
      requests: ordinary('requests', requests.seats),
      gateway: ordinary('gateway', requests.seats),
      exempt: ordinary('exempt', requests.seats),
      streams: streams('streams', requests.streams),
      gatewayStreams: streams('gateway-streams', Math.min(requests.streams, GATEWAY_STREAMS)),
      stalled: this.pool('stalled', { capacity: 2 * requests.seats, sharing: 'preempt' }),
    };
  }

  /** Reviews and other requests to kube-apiserver that decide about callers. */
  lookups(): Seats {
    return this.#reviews('lookups', LOOKUPS);
  }

  /** Reviews of the namespaces of lists. */
  namespaceReviews(): Seats {
    return this.#reviews('namespace-reviews', NAMESPACE_REVIEWS);
  }

  /** Reviews of callers of the acceleration, in the name of the callers: they can let the reviews hang. */
  callerReviews(): Seats {
    return this.#reviews('caller-reviews', LOOKUPS, CALLER_REVIEW_WAIT_MS);
  }

  #reviews(name: string, capacity: number, waitMs = LOOKUP_WAIT_MS): Seats {
    return this.pool(name, { capacity, sharing: 'reserve', waiting: WAITING_LOOKUPS, waitMs });
  }

  #collect(registry: Registry): void {
    const pools = this.#pools;
    const gauge = new Gauge({
      name: 'admission_seats',
      help: 'Requests that hold a seat (`held`) or wait for one (`waiting`), by pool.',
      labelNames: ['pool', 'state'],
      registers: [],
      collect() {
        for (const [pool, seats] of pools) {
          this.set({ pool, state: 'held' }, seats.held);
          this.set({ pool, state: 'waiting' }, seats.waiting);
        }
      },
    });
    const counter = new Counter({
      name: 'admission_rejections_total',
      help: 'Requests without a seat (`refused`), and streams that lost theirs to another caller (`preempted`), by pool.',
      labelNames: ['pool', 'reason'],
      registers: [],
      collect() {
        this.reset();
        for (const [pool, seats] of pools) {
          this.inc({ pool, reason: 'refused' }, seats.refused);
          this.inc({ pool, reason: 'preempted' }, seats.preempted);
        }
      },
    });
    registry.registerMetric(gauge);
    registry.registerMetric(counter);
  }
}
