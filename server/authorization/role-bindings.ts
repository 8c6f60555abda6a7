// Index of RoleBindings: the namespaces in which a user may have a permission. The index never grants a permission;
// SubjectAccessReviews confirm each namespace.
import type { Logger } from 'pino';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { UserInfo } from '../authentication/user.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { Freshness, STALE_AFTER_MS } from '../cluster/reflector/freshness.ts';
import { Reflector } from '../cluster/reflector/reflector.ts';
import type { ReflectorSink, Replacement } from '../cluster/reflector/reflector-sink.ts';
import { SHORT_WATCHES } from '../cluster/reflector/reflector-tuning.ts';
import type { ChangeType } from '../cluster/reflector/watch-stream.ts';
import { Interner } from '../memory/interner.ts';

const PATH = '/apis/rbac.authorization.k8s.io/v1/rolebindings';

interface Binding {
  readonly namespace: string;
  /** Keys of subjects, see subjectKey. */
  readonly subjects: readonly string[];
}

/** Reflector sink of RoleBindings. */
export class BindingIndex implements ReflectorSink {
  readonly #interner = new Interner();
  /** By namespace and name. */
  #bindings = new Map<string, Binding>();
  /** Number of bindings of a subject by namespace. */
  #namespaces = new Map<string, Map<string, number>>();
  #synced = false;

  get synced(): boolean {
    return this.#synced;
  }

  /** Returns the namespaces with a RoleBinding for the user or for one of its groups. */
  namespacesOf({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): ReadonlySet<string> {
    const found = new Set<string>();
    for (const subject of [userKey(name), ...groups.map(groupKey)]) {
      for (const namespace of this.#namespaces.get(subject)?.keys() ?? []) found.add(namespace);
    }
    return found;
  }

  replacement(): Replacement {
    const found = new Map<string, Binding>();
    return {
      add: (raw) => {
        const [key, binding] = this.#parse(raw);
        found.set(key, binding);
      },
      commit: () => {
        this.#bindings = new Map();
        this.#namespaces = new Map();
        for (const [key, binding] of found) this.#set(key, binding);
        this.#synced = true;
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const [key, binding] = this.#parse(raw);
    this.#remove(key);
    if (type !== 'DELETED') this.#set(key, binding);
  }

  bookmark(): void {
    // A bookmark changes nothing.
  }

  #set(key: string, binding: Binding): void {
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) {
      const counts = this.#namespaces.get(subject) ?? new Map<string, number>();
      this.#namespaces.set(subject, counts);
      counts.set(binding.namespace, (counts.get(binding.namespace) ?? 0) + 1);
    }
  }

  #remove(key: string): void {
    const binding = this.#bindings.get(key);
    if (!binding) return;
    this.#bindings.delete(key);
    for (const subject of binding.subjects) {
      const counts = this.#namespaces.get(subject);
      const count = (counts?.get(binding.namespace) ?? 1) - 1;
      if (count > 0) counts?.set(binding.namespace, count);
      else counts?.delete(binding.namespace);
      if (counts?.size === 0) this.#namespaces.delete(subject);
    }
  }

  #parse(raw: Buffer): [key: string, binding: Binding] {
    const object: unknown = JSON.parse(raw.toString('utf8'));
    const metadata = recordIn(object, 'metadata');
    const namespace = this.#interner.intern(text(metadata['namespace']));
    const subjects = array(record(object)['subjects'])
      .map((subject) => subjectKey(record(subject)))
      .filter((key) => key !== undefined)
      .map((key) => this.#interner.intern(key));
    return [`${namespace}/${text(metadata['name'])}`, { namespace, subjects: [...new Set(subjects)] }];
  }
}

function userKey(name: string): string {
  return `user ${name}`;
}

function groupKey(name: string): string {
  return `group ${name}`;
}

/** Identifies the subject of a binding as a user or a group; undefined for an unknown kind of subject. */
function subjectKey({ kind, name, namespace }: Readonly<Record<string, unknown>>): string | undefined {
  if (kind === 'User') return userKey(text(name));
  if (kind === 'Group') return groupKey(text(name));
  return kind === 'ServiceAccount'
    ? userKey(`system:serviceaccount:${text(namespace)}:${text(name)}`)
    : undefined;
}

export interface RoleBindingsOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/** The RoleBindings of the cluster, followed by a reflector. */
export class RoleBindings {
  readonly #options: RoleBindingsOptions;
  readonly #index = new BindingIndex();
  readonly #freshness = new Freshness();

  constructor(options: RoleBindingsOptions) {
    this.#options = options;
  }

  /**
   * Returns the namespaces in which the user may have a permission by RBAC; undefined while the RoleBindings are not
   * known, or stale. Permissions of other authorizers than RBAC are not included.
   */
  candidates(user: UserInfo): ReadonlySet<string> | undefined {
    const isCurrent = this.#index.synced && this.#freshness.within(STALE_AFTER_MS);
    return isCurrent ? this.#index.namespacesOf(user) : undefined;
  }

  /** Runs the reflector until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    const reflector = new Reflector({
      client,
      path: PATH,
      sink: this.#index,
      log,
      observer: this.#freshness,
      tuning: SHORT_WATCHES,
    });
    await reflector.run(signal);
  }
}
