// The pods of log queries: facts of the copy of all pods, by namespace and name.

import type { ObjectIdentity } from '../../../cache/resource-cache.ts';
import type { HeldCopy } from '../../../resources/kinds/kind-copy.ts';
import type { ContainerSummary } from '../../../resources/profiles/container-runs.ts';
import type { KindFacts } from '../../../resources/profiles/kind-values.ts';

export interface PodSummary {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty before the pod is scheduled. */
  readonly node: string;
  readonly containers: readonly ContainerSummary[];
}

type PodName = Pick<PodSummary, 'namespace' | 'name'>;
/** Called with the changed pod; with undefined after a relist, which can change any pod. */
export type PodListener = (pod: PodName | undefined) => void;

export class Pods {
  readonly #copy: HeldCopy;

  /** `copy`: of the kind Pod after its first list, which the caller holds. */
  constructor(copy: HeldCopy) {
    this.#copy = copy;
  }

  /** Time since the last proof that the pods are up to date, in ms. */
  get ageMs(): number {
    return this.#copy.ageMs;
  }

  get(namespace: string, name: string): PodSummary | undefined {
    const pod = this.#copy.cache.facts().get(`${namespace}/${name}`);
    return pod && summaryOf(pod);
  }

  /** Yields the pods of a namespace, or of all if it is empty, as they are now. */
  *in(namespace: string): Generator<ObjectIdentity<KindFacts>> {
    for (const neighbours of this.#copy.cache.facts().inNamespace(namespace)) {
      for (const { identity } of neighbours) yield identity;
    }
  }

  onChange(listener: PodListener): () => void {
    return this.#copy.cache.onChange((change) => listener(change?.object));
  }

  /** Resolves when the pod changes or is deleted, after a relist, or when the signal is aborted. */
  changed({ namespace, name }: PodName, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = this.onChange((pod) => {
      if (!pod || (pod.namespace === namespace && pod.name === name)) end();
    });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return promise;
  }
}

export function summaryOf({ namespace, name, uid, facts }: ObjectIdentity<KindFacts>): PodSummary {
  const { node = '', containers = [] } = facts.features?.pod ?? {};
  return { namespace, name, uid, node, containers };
}
