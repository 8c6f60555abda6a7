// The names and creation times of all namespaces, from the copy of the kind.
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import type { HeldCopy } from '../resources/kinds/kind-copy.ts';

export interface Namespace {
  readonly name: string;
  /** Creation time in ms since the epoch, in whole seconds. */
  readonly createdAt: number;
}

export class Namespaces {
  readonly #copy: HeldCopy;
  /** The namespaces by name, shared by all calls until a namespace changes. */
  #all: ReadonlyMap<string, Namespace> | undefined;

  /** `copy`: of the kind Namespace, which the caller holds. */
  constructor(copy: HeldCopy) {
    this.#copy = copy;
    copy.cache.onChange(() => {
      this.#all = undefined;
    });
  }

  /** Throws ServiceUnavailable while the copy is empty or stale: a namespace may have been recreated. */
  all(): ReadonlyMap<string, Namespace> {
    if (this.#copy.isStale) {
      throw newServiceUnavailable('the namespaces of the cluster are not known', 1);
    }
    this.#all ??= this.#read();
    return this.#all;
  }

  #read(): ReadonlyMap<string, Namespace> {
    const all = new Map<string, Namespace>();
    for (const { name, facts } of this.#copy.cache.facts().objects()) {
      // Without a creation time, a recreated namespace could not be detected.
      if (facts.createdAt > 0) all.set(name, { name, createdAt: facts.createdAt * 1000 });
    }
    return all;
  }
}
