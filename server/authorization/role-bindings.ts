// Index of RoleBindings: the namespaces in which a user may have a permission. The index never grants a permission;
// SubjectAccessReviews confirm each namespace.
import type { UserInfo } from '../authentication/user.ts';
import type { HeldCopy } from '../resources/kinds/kind-copy.ts';
import { groupSubject, userSubject } from '../resources/profiles/feature-facts.ts';
import type { KindFacts } from '../resources/profiles/kind-values.ts';

interface Binding {
  readonly namespace: string;
  readonly facts: KindFacts;
}

export class RoleBindings {
  readonly #copy: HeldCopy;
  /** Number of bindings of a subject by namespace. */
  #namespaces = new Map<string, Map<string, number>>();

  /** `copy`: of the kind RoleBinding, which the caller holds. */
  constructor(copy: HeldCopy) {
    this.#copy = copy;
    copy.cache.onChange((change) => {
      if (!change) return this.#rebuild();
      if (change.previous) this.#count(change.previous, -1);
      if (change.type !== 'DELETED') this.#count(change.object, 1);
    });
    this.#rebuild();
  }

  /**
   * Returns the namespaces with a RoleBinding for the user or for one of its groups; undefined while the RoleBindings are
   * not known, or stale. Permissions of other authorizers than RBAC are not included.
   */
  candidates({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): ReadonlySet<string> | undefined {
    if (this.#copy.isStale) return undefined;
    const found = new Set<string>();
    for (const subject of [userSubject(name), ...groups.map(groupSubject)]) {
      for (const namespace of this.#namespaces.get(subject)?.keys() ?? []) found.add(namespace);
    }
    return found;
  }

  #rebuild(): void {
    this.#namespaces = new Map();
    if (!this.#copy.synced) return;
    for (const binding of this.#copy.cache.facts().objects()) this.#count(binding, 1);
  }

  #count({ namespace, facts }: Binding, by: 1 | -1): void {
    for (const subject of facts.features?.subjects ?? []) {
      const counts = this.#namespaces.get(subject) ?? new Map<string, number>();
      this.#namespaces.set(subject, counts);
      const count = (counts.get(namespace) ?? 0) + by;
      if (count > 0) counts.set(namespace, count);
      else counts.delete(namespace);
      if (counts.size === 0) this.#namespaces.delete(subject);
    }
  }
}
