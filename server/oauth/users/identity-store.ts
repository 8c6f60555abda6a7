// Store of Identity objects: reads come from a cache, and writes go to kube-apiserver.
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { IDENTITY, type IdentitySpec, identityName } from '../../../apis/iam/v1beta1/identity-resource.ts';
import { isConflict, isNotFound, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { optionalText, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { retryConflicts } from '../../cluster/retry-conflicts.ts';
import type { UserID } from './account.ts';
import { ObjectCache, type ObjectCacheOptions } from './object-cache.ts';

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

/** Identities, from the cache. `synced` and `catchUp` behave as in UserDirectory. */
export interface IdentityDirectory {
  readonly synced: boolean;
  get(name: string): Identity | undefined;
  catchUp?(name: string, call: CallContext): Promise<void>;
}

export class IdentityStore implements IdentityDirectory {
  readonly #options: ObjectCacheOptions;
  readonly #cache: ObjectCache<Identity>;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
    this.#cache = new ObjectCache(IDENTITY.plural, readIdentity, options);
  }

  /** Fills the cache until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void> {
    return this.#cache.run(signal);
  }

  get synced(): boolean {
    return this.#cache.synced;
  }

  get(name: string): Identity | undefined {
    return this.#cache.index.get(name);
  }

  /** Reads all identities of the cache, which is done only for pages of users. */
  ofUser({ name, uid }: UserID): readonly Identity[] {
    return [...this.#cache.index.values()].filter(({ user, userUID }) => user === name && userUID === uid);
  }

  catchUp(name: string, call: CallContext): Promise<void> {
    return this.#cache.catchUp(name, call);
  }

  /** Throws AlreadyExists if the person is linked. */
  async create(identity: NewIdentity, linkedAt: number, signal: AbortSignal): Promise<Identity> {
    const { displayName, ...link } = identity;
    const spec: IdentitySpec = {
      ...link,
      ...(displayName === '' ? {} : { displayName }),
      linkedTime: new Date(linkedAt).toISOString(),
    };
    const apiVersion = `${this.#options.group}/${VERSION}`;
    const json = { apiVersion, kind: IDENTITY.kind, metadata: { name: identityName(link) }, spec };
    const written = await this.#options.client.json({ method: 'POST', path: this.#cache.path, json, signal });
    this.#cache.index.put(written);
    const read = readIdentity(written);
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
    const { client } = this.#options;
    const path = this.#cache.pathOf(name);
    try {
      return await retryConflicts(async () => {
        const object = record(await client.json({ path, signal }));
        const spec = recordIn(object, 'spec');
        if (recordIn(object, 'metadata')['uid'] !== uid) return undefined;
        const refresh = change(refreshIn(spec));
        if (!refresh) return undefined;
        // The version in the metadata is the precondition.
        const json = { ...object, spec: { ...spec, refresh } };
        this.#cache.index.put(await client.json({ method: 'PUT', path, json, signal }));
        return refresh;
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw newServiceUnavailable('cannot update the identity', 1, { cause: error });
    }
  }

  /** Has no effect on an object with another UID. */
  async delete({ name, uid }: Pick<Identity, 'name' | 'uid'>, signal: AbortSignal): Promise<void> {
    const json = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } };
    try {
      await this.#options.client.json({ method: 'DELETE', path: this.#cache.pathOf(name), json, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    this.#cache.index.remove(name, uid);
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
  const linkedAt = Date.parse(text(spec['linkedTime']));
  const displayName = text(spec['displayName']);
  const link = { name, uid, provider, issuer, subject, user, userUID, displayName };
  return Number.isNaN(linkedAt) ? link : { ...link, linkedAt };
}
