// Directory of User objects: reads come from a cache, and writes go to kube-apiserver. server/iam checks the
// permissions of callers.
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER, type User } from '../../../apis/iam/v1beta1/user-resource.ts';
import { isNotFound } from '../../../apis/meta/v1/errors.ts';
import { isRecord, optionalText, record, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { Account, UserDirectory } from './account.ts';
import { ObjectCache, type ObjectCacheOptions } from './object-cache.ts';

/** Users with the operations of the REST API. */
export interface Users extends UserDirectory {
  /** The whole object, from the cache. */
  object(name: string): User | undefined;
  /** All objects, from the cache, in no order. */
  objects(): Iterable<User>;
  /** Whether any user exists. Reads from the cluster. */
  anyExists(signal: AbortSignal): Promise<boolean>;
  /** Reads from the cluster. */
  read(name: string, signal: AbortSignal): Promise<User | undefined>;
  /** Throws AlreadyExists or Invalid. */
  create(user: User, signal: AbortSignal): Promise<User>;
  /** Throws Conflict if `metadata.resourceVersion` is not the current one. */
  replace(user: User, signal: AbortSignal): Promise<User>;
  /** Deletes the user with this uid only; returns false if it does not exist. */
  delete(name: string, uid: string, signal: AbortSignal): Promise<boolean>;
}

interface CachedUser {
  readonly object: User;
  readonly account: Account;
}

export class ClusterUserDirectory implements Users {
  readonly #options: ObjectCacheOptions;
  readonly #cache: ObjectCache<CachedUser>;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
    this.#cache = new ObjectCache(
      USER.plural,
      (raw) => {
        const object = readUser(raw);
        return object && { object, account: accountOf(object) };
      },
      options,
    );
  }

  /** Fills the cache until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void> {
    return this.#cache.run(signal);
  }

  get synced(): boolean {
    return this.#cache.synced;
  }

  get(name: string): Account | undefined {
    return this.#cache.index.get(name)?.account;
  }

  catchUp(name: string, call: CallContext): Promise<void> {
    return this.#cache.catchUp(name, call);
  }

  object(name: string): User | undefined {
    return this.#cache.index.get(name)?.object;
  }

  *objects(): Generator<User> {
    for (const { object } of this.#cache.index.values()) yield object;
  }

  async anyExists(signal: AbortSignal): Promise<boolean> {
    const list = await this.#options.client.json({ path: `${this.#cache.path}?limit=1`, signal });
    const { items } = record(list);
    if (!Array.isArray(items)) throw new Error('kube-apiserver returned no list of users');
    return items.length > 0;
  }

  async read(name: string, signal: AbortSignal): Promise<User | undefined> {
    try {
      const found = await this.#options.client.json({ path: this.#cache.pathOf(name), signal });
      this.#cache.index.put(found);
      return readUser(found);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  create(user: User, signal: AbortSignal): Promise<User> {
    return this.#write('POST', this.#cache.path, user, signal);
  }

  replace(user: User, signal: AbortSignal): Promise<User> {
    return this.#write('PUT', this.#cache.pathOf(user.metadata.name), user, signal);
  }

  async delete(name: string, uid: string, signal: AbortSignal): Promise<boolean> {
    let found = true;
    try {
      await this.#options.client.json({
        method: 'DELETE',
        path: this.#cache.pathOf(name),
        json: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } },
        signal,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      found = false;
    }
    // An object with finalizers still exists, but `readUser` treats it as deleted too.
    this.#cache.index.remove(name, uid);
    return found;
  }

  /** Caches a User object that kube-apiserver returned for a write of another component. */
  put(written: unknown): void {
    this.#cache.index.put(written);
  }

  async #write(method: 'POST' | 'PUT', path: string, user: User, signal: AbortSignal): Promise<User> {
    const { client, group } = this.#options;
    const written = await client.json({ method, path, json: userObject(group, user), signal });
    this.#cache.index.put(written);
    const read = readUser(written);
    if (!read) throw new Error('kube-apiserver returned an object that is not a user');
    return read;
  }
}

/**
 * Converts a User object. Returns undefined for an invalid or deleted object. Fields with a wrong type are treated as
 * absent, except `disabled`, where every value but false disables the user.
 */
export function readUser(object: unknown): User | undefined {
  const metadata = recordIn(object, 'metadata');
  const spec = recordIn(object, 'spec');
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string')
    return undefined;
  if (deletionTimestamp !== undefined) return undefined;
  const { generation } = metadata;
  const lastLoginTime = optionalText(recordIn(object, 'status')['lastLoginTime']);
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(typeof generation === 'number' ? { generation } : {}),
      ...member('creationTimestamp', optionalText(metadata['creationTimestamp'])),
      ...member('finalizers', list(metadata['finalizers'], isText)),
      ...member('ownerReferences', list(metadata['ownerReferences'], isRecord)),
      ...member('labels', textMap(metadata['labels'])),
      ...member('annotations', textMap(metadata['annotations'])),
    },
    spec: {
      ...member('email', optionalText(spec['email'])),
      ...member('verifiedEmail', optionalText(spec['verifiedEmail'])),
      ...member('displayName', optionalText(spec['displayName'])),
      ...member('groups', list(spec['groups'], isText)),
      ...('disabled' in spec ? { disabled: spec['disabled'] !== false } : {}),
    },
    ...(lastLoginTime === undefined ? {} : { status: { lastLoginTime } }),
  };
}

export function accountOf({ metadata, spec }: User): Account {
  const { email = '', verifiedEmail = '', displayName = '', groups = [], disabled = false } = spec;
  // Validation rejects writes with reserved group names of Kubernetes. They are dropped here too, in case one was stored.
  const validGroups = groups.filter((group) => group !== '' && !group.includes(':'));
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    email,
    ...(email !== '' && email === verifiedEmail ? { emailVerified: true } : {}),
    displayName,
    groups: validGroups,
    disabled,
  };
}

/** The object as it is written to the cluster and returned to clients. */
export function userObject(group: string, user: User): object {
  return { apiVersion: `${group}/${VERSION}`, kind: USER.kind, ...user };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function list<Item>(value: unknown, isItem: (item: unknown) => item is Item): Item[] | undefined {
  return Array.isArray(value) ? value.filter(isItem) : undefined;
}

function textMap(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
}

function member<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });
}
