import type { LogSource } from '../pods/log-source.ts';
import type { Tally } from '../reading/pass.ts';

/** How many lines there are, and how many different containers wrote them. */
export class LineCounts {
  logs = 0;
  readonly #containers = new Set<string>();

  get containers(): number {
    return this.#containers.size;
  }

  tally({ namespace, pod, container, run }: LogSource): Tally {
    let count = 0;
    return {
      onLine: () => {
        count++;
      },
      done: () => {
        this.logs += count;
        if (count > 0) this.#containers.add(run.id || `${namespace}/${pod}/${container}`);
      },
    };
  }
}
