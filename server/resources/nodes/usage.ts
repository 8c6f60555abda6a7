// What pods use of their nodes: follows all pods that run or wait to run on a node, and adds up. Only started when the
// configuration asks for the annotations.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { Reflector } from '../../cluster/following/reflector.ts';
import { usageAnnotations } from './usage-annotations.ts';
import { UsageCounter } from './usage-counter.ts';

export interface NodeUsageOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  /** The platform's, for instance `platform.io`. */
  readonly domain: string;
}

export class NodeUsage {
  readonly annotations: ReturnType<typeof usageAnnotations>;
  readonly #counter = new UsageCounter();
  readonly #reflector: Reflector;

  constructor({ client, log, domain }: NodeUsageOptions) {
    this.annotations = usageAnnotations(this.#counter, domain);
    this.#reflector = new Reflector({
      client,
      path: '/api/v1/pods',
      // A pod that ends leaves the selection, which the watch reports as a deletion.
      query: { fieldSelector: 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed' },
      sink: this.#counter,
      log,
    });
  }

  /** True once all pods are counted. */
  get synced(): boolean {
    return this.#counter.synced;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
  }
}
