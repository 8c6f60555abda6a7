// Store of Identity objects: reads come from a cache, and writes go to kube-apiserver.
import { randomUUID } from 'node:crypto';
import { IDENTITY, type IdentitySpec, identityName } from '../../../apis/iam/v1beta1/identity-resource.ts';
import { isConflict, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { optionalText, optionalTime, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Directory, UserID } from './account.ts';
import { ObjectStore, type ObjectStoreOptions } from './object-store.ts';

/** The link of a person at a provider to a user. */
export interface Identity extends Pick<IdentitySpec, 'provider' | 'issuer' | 'subject' | 'user' | 'userUID'> {
  readonly name: string;
  /** UID of the Identity object. A recreated object is another link. */
  readonly uid: string;
  readonly displayName: string;
  /** Ms since the epoch. */
  readonly linkedAt?: number;
}

/** The refresh token of a person at an OpenID provider, encrypted. */
export type StoredRefresh = NonNullable<IdentitySpec['refresh']>;

export type NewIdentity = Omit<Identity, 'name' | 'uid' | 'linkedAt'>;

export type IdentityDirectory = Directory<Identity>;

export class IdentityStore extends ObjectStore<Identity> implements IdentityDirectory {
  constructor(options: ObjectStoreOptions) {
    super(IDENTITY, readIdentity, options);
  }

  get(name: string): Identity | undefined {
    return this.index.get(name);
  }

  /** Reads all identities of the cache, which is done only for pages of users. */
  ofUser({ name, uid }: UserID): readonly Identity[] {
    return [...this.index.values()].filter(({ user, userUID }) => user === name && userUID === uid);
  }

  /** Throws AlreadyExists if the person is linked. */
  async create(identity: NewIdentity, linkedAt: number, signal: AbortSignal): Promise<Identity> {
    const { displayName, ...link } = identity;
    const spec: IdentitySpec = {
      ...link,
      ...(displayName === '' ? {} : { displayName }),
      linkedTime: new Date(linkedAt).toISOString(),
    };
    const read = readIdentity(await this.postObject(this.newObject(identityName(link), spec), signal));
    if (!read) throw new Error('kube-apiserver returned an object that is not an identity');
    return read;
  }

  /**
   * Replaces the refresh token, and returns the new one; undefined if `change` does, or the identity was deleted. `change` gets the
   * current one from the cluster, and decides again after a conflict. Throws ServiceUnavailable.
   */
  async updateRefresh(
    { name, uid }: Pick<Identity, 'name' | 'uid'>,
    change: (current: StoredRefresh | undefined) => StoredRefresh | undefined,
    signal: AbortSignal,
  ): Promise<StoredRefresh | undefined> {
    let refresh: StoredRefresh | undefined;
    const changed = (object: object | undefined): object | undefined => {
      const spec = recordIn(object, 'spec');
      refresh = recordIn(object, 'metadata')['uid'] === uid ? change(refreshIn(spec)) : undefined;
      return refresh && { ...object, spec: { ...spec, refresh } };
    };
    await this.updateObject(name, changed, signal).catch((cause: unknown) => {
      throw newServiceUnavailable('cannot update the identity', 1, { cause });
    });
    return refresh;
  }

  /**
   * Deletes an identity if `kept` exists, else returns false. The write to `kept` makes a deletion fail that is decided at the same time, of
   * `kept` beside this one: each would otherwise rely on the other. Throws ServiceUnavailable.
   */
  async deleteBeside(
    { name, uid }: Pick<Identity, 'name' | 'uid'>,
    kept: Pick<Identity, 'name' | 'uid'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    let isKept = true;
    const decided = async (current: object | undefined): Promise<null | undefined> => {
      if (recordIn(current, 'metadata')['uid'] !== uid) return undefined;
      isKept = await this.#mark(kept, signal);
      return isKept ? null : undefined;
    };
    await this.updateObject(name, decided, signal).catch((cause: unknown) => {
      throw newServiceUnavailable('cannot delete the identity', 1, { cause });
    });
    return isKept;
  }

  /** Gives the object another resourceVersion. False if it was deleted. */
  async #mark({ name, uid }: Pick<Identity, 'name' | 'uid'>, signal: AbortSignal): Promise<boolean> {
    let isFound = false;
    const marked = (current: object | undefined): object | undefined => {
      const metadata = recordIn(current, 'metadata');
      isFound = metadata['uid'] === uid && metadata['deletionTimestamp'] === undefined;
      const annotations = {
        ...recordIn(metadata, 'annotations'),
        [`${this.options.group}/kept`]: randomUUID(),
      };
      return isFound ? { ...current, metadata: { ...metadata, annotations } } : undefined;
    };
    await this.updateObject(name, marked, signal);
    return isFound;
  }

  /** Has no effect on an object with another UID. */
  async delete({ name, uid }: Pick<Identity, 'name' | 'uid'>, signal: AbortSignal): Promise<void> {
    await this.deleteObject(name, { uid }, signal).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }
}

function refreshIn(spec: Readonly<Record<string, unknown>>): StoredRefresh | undefined {
  const { token, usedTime } = recordIn(spec, 'refresh');
  if (typeof token !== 'string') return undefined;
  return typeof usedTime === 'string' ? { token, usedTime } : { token };
}

/** Undefined for a deleted object, and for one whose name belongs to another person: an administrator may have copied it. */
export function readIdentity(object: unknown): Identity | undefined {
  const { name, uid, deletionTimestamp } = recordIn(object, 'metadata');
  const spec = recordIn(object, 'spec');
  const [provider, issuer, subject] = [text(spec['provider']), text(spec['issuer']), text(spec['subject'])];
  const user = optionalText(spec['user']);
  const userUID = optionalText(spec['userUID']);
  if (typeof name !== 'string' || typeof uid !== 'string' || deletionTimestamp !== undefined)
    return undefined;
  if (user === undefined || userUID === undefined || userUID === '') return undefined;
  if (name !== identityName({ provider, issuer, subject })) return undefined;
  const linkedAt = optionalTime(spec['linkedTime']);
  const displayName = text(spec['displayName']);
  const link = { name, uid, provider, issuer, subject, user, userUID, displayName };
  return linkedAt === undefined ? link : { ...link, linkedAt };
}
