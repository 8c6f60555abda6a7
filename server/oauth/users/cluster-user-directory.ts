// Users as custom resources: read from a cache that follows them, written through to the cluster. Passwords are next
// door (cluster-credential-store); who may write whom is decided by whoever calls, see server/iam.
import { USER, type User } from '../../../apis/iam/v1beta1/user.ts';
import { isNotFound } from '../../../apis/meta/v1/errors.ts';
import { record } from '../../../apis/reading/unknown-value.ts';
import type { Account, UserDirectory } from './account.ts';
import { FollowedObjects, type FollowedOptions } from './followed-objects.ts';
import { accountOf, readUser, userObject } from './user-object.ts';

/** Users, with what REST needs to manage them. */
export interface Users extends UserDirectory {
  /** The whole object, from the cache. */
  object(name: string): User | undefined;
  /** All objects, from the cache, in no order. */
  objects(): Iterable<User>;
  /** Whether there is any user, in the cluster itself. */
  anybody(signal: AbortSignal): Promise<boolean>;
  /** From the cluster itself. */
  read(name: string, signal: AbortSignal): Promise<User | undefined>;
  /** Throws AlreadyExists, or Invalid when a rule of the definition is broken. */
  create(user: User, signal: AbortSignal): Promise<User>;
  /** Throws Conflict when it is no longer at its `metadata.resourceVersion`. */
  replace(user: User, signal: AbortSignal): Promise<User>;
  /** Only the one with this uid; false when it is gone already. */
  delete(name: string, uid: string, signal: AbortSignal): Promise<boolean>;
}

interface KnownUser {
  readonly object: User;
  readonly account: Account;
}

export class ClusterUserDirectory implements Users {
  readonly #options: FollowedOptions;
  readonly #followed: FollowedObjects<KnownUser>;

  constructor(options: FollowedOptions) {
    this.#options = options;
    this.#followed = new FollowedObjects(
      USER.plural,
      (raw) => {
        const object = readUser(raw);
        return object && { object, account: accountOf(object) };
      },
      options,
    );
  }

  /** Follows the User objects until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void> {
    return this.#followed.run(signal);
  }

  /** False while the cache is not filled, or when the cluster was silent for too long. */
  get synced(): boolean {
    return this.#followed.synced;
  }

  get(name: string): Account | undefined {
    return this.#followed.index.get(name)?.account;
  }

  catchUp(name: string, signal: AbortSignal): Promise<void> {
    return this.#followed.catchUp(name, signal);
  }

  object(name: string): User | undefined {
    return this.#followed.index.get(name)?.object;
  }

  *objects(): Generator<User> {
    for (const { object } of this.#followed.index.values()) yield object;
  }

  async anybody(signal: AbortSignal): Promise<boolean> {
    const list = await this.#options.client.json({ path: `${this.#followed.path}?limit=1`, signal });
    const { items } = record(list);
    if (!Array.isArray(items)) throw new Error('kube-apiserver answered with something that is no list');
    return items.length > 0;
  }

  async read(name: string, signal: AbortSignal): Promise<User | undefined> {
    try {
      const found = await this.#options.client.json({ path: this.#followed.pathOf(name), signal });
      this.#followed.index.put(found);
      return readUser(found);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  create(user: User, signal: AbortSignal): Promise<User> {
    return this.#write('POST', this.#followed.path, user, signal);
  }

  replace(user: User, signal: AbortSignal): Promise<User> {
    return this.#write('PUT', this.#followed.pathOf(user.metadata.name), user, signal);
  }

  async delete(name: string, uid: string, signal: AbortSignal): Promise<boolean> {
    let found = true;
    try {
      await this.#options.client.json({
        method: 'DELETE',
        path: this.#followed.pathOf(name),
        json: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } },
        signal,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      found = false;
    }
    // One with finalizers is still in the cluster then, and counts as gone all the same: see `readUser`.
    this.#followed.index.remove(name, uid);
    return found;
  }

  /** The cluster's answer to what somebody else here has written. */
  show(written: unknown): void {
    this.#followed.index.put(written);
  }

  async #write(method: 'POST' | 'PUT', path: string, user: User, signal: AbortSignal): Promise<User> {
    const { client, group } = this.#options;
    const written = await client.json({ method, path, json: userObject(group, user), signal });
    this.#followed.index.put(written);
    const read = readUser(written);
    if (!read) throw new Error('kube-apiserver answered with something that is not a user');
    return read;
  }
}
