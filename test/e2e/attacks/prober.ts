// Measures the requests of a caller while others flood the server, and compares them with the quiet server.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Client, type ClientRequest } from '../../../hack/control-plane/client.ts';
import { until } from '../../support/until.ts';

/**
 * Allowed p99 during a flood: this multiple of the quiet p99, and at least this time, because the flood, kube-apiserver and other tests
 * share the cores of the machine.
 */
const FACTOR = 10;
const FLOOR_MS = 1_000;
const SAMPLES = 100;
/** Time between two rounds of requests: the probes must not be a flood of their own. */
const PACE_MS = 20;

export interface Probe {
  readonly name: string;
  readonly path: string;
  readonly request?: ClientRequest;
}

interface Measured {
  readonly statuses: ReadonlySet<number>;
  readonly p99: number;
}

/** Sends a request of each probe at a time, as the page of an interactive user. */
export class Prober implements Disposable {
  readonly #client: Client;
  readonly #probes: readonly Probe[];
  /** Measured once, before the first flood. */
  #quiet: ReadonlyMap<string, Measured> | undefined;

  constructor(url: string, ca: string, probes: readonly Probe[]) {
    this.#client = new Client(url, { ca }, probes.length);
    this.#probes = probes;
  }

  /** Sends each probe `samples` times. */
  async measure(samples = SAMPLES): Promise<ReadonlyMap<string, Measured>> {
    const results = this.#probes.map(({ name }) => ({
      name,
      times: [] as number[],
      statuses: new Set<number>(),
    }));
    for (let i = 0; i < samples; i++) {
      await delay(PACE_MS);
      await Promise.all(
        this.#probes.map(async ({ path, request }, index) => {
          const begin = performance.now();
          const { status } = await this.#client.send(path, request);
          results[index]?.times.push(performance.now() - begin);
          results[index]?.statuses.add(status);
        }),
      );
    }
    return new Map(results.map(({ name, times, statuses }) => [name, { statuses, p99: p99(times) }]));
  }

  /** Resolves when each probe gets 200. */
  async works(): Promise<void> {
    await until(async () =>
      [...(await this.measure(3)).values()].every(({ statuses }) => statuses.size === 1 && statuses.has(200)),
    );
  }

  /** Measures while `flood` runs. Fails if a request fails, or is much slower than on the quiet server. */
  async withstands(flood: () => Promise<AsyncDisposable>, samples = SAMPLES): Promise<void> {
    await this.works();
    const quiet = (this.#quiet ??= await this.measure(samples));
    await using _flood = await flood();
    const busy = await this.measure(samples);
    for (const { name } of this.#probes) {
      const { statuses, p99: slow = Number.POSITIVE_INFINITY } = busy.get(name) ?? {};
      const most = Math.max(FLOOR_MS, FACTOR * (quiet.get(name)?.p99 ?? 0));
      console.log(
        `      ${name}: p99 ${quiet.get(name)?.p99} ms on the quiet server, ${slow} ms during the flood`,
      );
      expect(statuses, `${name}: statuses`).to.deep.equal(new Set([200]));
      expect(slow, `${name}: p99, quiet ${quiet.get(name)?.p99} ms`).to.be.below(most);
    }
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function p99(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0);
}
