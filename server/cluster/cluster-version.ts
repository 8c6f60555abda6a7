// The version of kube-apiserver, cached for all callers.
import type { KubernetesVersion } from '../../apis/meta/v1/version.ts';
import { record, text } from '../../apis/reading/unknown-value.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import type { ClusterClient } from './connection/client.ts';

/** TTL of the version and of a failure, in ms. */
const TTL_MS = 10_000;
const TIMEOUT_MS = 1_000;

export class ClusterVersion {
  readonly #client: ClusterClient;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  #known: Promise<KubernetesVersion | undefined> | undefined;
  #readAt = 0;

  /** `now`: a monotonic clock, in ms. */
  constructor(client: ClusterClient, signal: AbortSignal, now: () => number = () => performance.now()) {
    this.#client = client;
    this.#signal = signal;
    this.#now = now;
  }

  /** Returns undefined if kube-apiserver does not respond in time. */
  current(): Promise<KubernetesVersion | undefined> {
    const now = this.#now();
    if (!this.#known || now - this.#readAt >= TTL_MS) {
      this.#readAt = now;
      this.#known = this.#read();
    }
    return this.#known;
  }

  async #read(): Promise<KubernetesVersion | undefined> {
    try {
      using bounded = boundedSignal(this.#signal, TIMEOUT_MS);
      const found = record(await this.#client.json({ path: '/version', signal: bounded.signal }));
      return {
        major: text(found['major']),
        minor: text(found['minor']),
        gitVersion: text(found['gitVersion']),
        gitCommit: text(found['gitCommit']),
        gitTreeState: text(found['gitTreeState']),
        buildDate: text(found['buildDate']),
        goVersion: text(found['goVersion']),
        compiler: text(found['compiler']),
        platform: text(found['platform']),
      };
    } catch {
      return undefined;
    }
  }
}
