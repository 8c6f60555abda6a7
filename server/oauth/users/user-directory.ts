// Directory of User objects: reads come from a cache, and writes go to kube-apiserver. server/iam checks the
// permissions of callers.
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER, type User } from '../../../apis/iam/v1beta1/user-resource.ts';
import { isRecord, optionalText, record, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Account, UserDirectory } from './account.ts';
import { ObjectStore, type ObjectStoreOptions } from './object-store.ts';

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

export class ClusterUserDirectory extends ObjectStore<CachedUser> implements Users {
  constructor(options: ObjectStoreOptions) {
    const read = (raw: unknown): CachedUser | undefined => {
      const object = readUser(raw);
      return object && { object, account: accountOf(object) };
    };
    super(USER, read, options);
  }

  get(name: string): Account | undefined {
    return this.index.get(name)?.account;
  }

  object(name: string): User | undefined {
    return this.index.get(name)?.object;
  }

  *objects(): Generator<User> {
    for (const { object } of this.index.values()) yield object;
  }

  async anyExists(signal: AbortSignal): Promise<boolean> {
    const list = await this.options.client.json({ path: `${this.path}?limit=1`, signal });
    const { items } = record(list);
    if (!Array.isArray(items)) throw new Error('kube-apiserver returned no list of users');
    return items.length > 0;
  }

  async read(name: string, signal: AbortSignal): Promise<User | undefined> {
    return readUser(await this.readObject(name, signal));
  }

  async create(user: User, signal: AbortSignal): Promise<User> {
    return written(await this.postObject(userObject(this.options.group, user), signal));
  }

  async replace(user: User, signal: AbortSignal): Promise<User> {
    const object = userObject(this.options.group, user);
    return written(await this.putObject(user.metadata.name, object, signal));
  }

  delete(name: string, uid: string, signal: AbortSignal): Promise<boolean> {
    return this.deleteObject(name, { uid }, signal);
  }

  /** Caches a User object that kube-apiserver returned for a write of another component. */
  put(object: unknown): void {
    this.index.put(object);
  }
}

function written(object: unknown): User {
  const read = readUser(object);
  if (!read) throw new Error('kube-apiserver returned an object that is not a user');
  return read;
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
