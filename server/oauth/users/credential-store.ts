// Store of password hashes in Credential objects, separate from User objects. Password hashes are never logged, not
// even in errors of kube-apiserver.
import { CREDENTIAL, type CredentialSpec } from '../../../apis/iam/v1beta1/credential-resource.ts';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user-resource.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  newConflict,
  newInternalError,
} from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { retryConflicts } from '../../cluster/retry-conflicts.ts';
import type { Credential, CredentialStore, NewCredential, WrittenCredential } from './account.ts';
import { ObjectCache, type ObjectCacheOptions } from './object-cache.ts';

export class ClusterCredentialStore implements CredentialStore {
  readonly #options: ObjectCacheOptions;
  readonly #cache: ObjectCache<Credential>;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
    this.#cache = new ObjectCache(CREDENTIAL.plural, readCredential, options);
  }

  /** Fills the cache until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void> {
    return this.#cache.run(signal);
  }

  get synced(): boolean {
    return this.#cache.synced;
  }

  get(user: string): Credential | undefined {
    return this.#cache.index.get(user);
  }

  /** Hashes of all users, in no order. */
  *hashes(): Generator<string> {
    for (const { passwordHash } of this.#cache.index.values()) yield passwordHash;
  }

  catchUp(user: string, call: CallContext): Promise<void> {
    return this.#cache.catchUp(user, call);
  }

  async set(user: string, credential: WrittenCredential, signal: AbortSignal): Promise<void> {
    if (credential.resourceVersion !== undefined) {
      await this.#replace(user, credential, credential.resourceVersion, signal);
      return;
    }
    const isRace = (error: unknown): boolean => isConflict(error) || isAlreadyExists(error);
    await retryConflicts(async () => {
      const version = await this.#currentVersion(user, signal);
      await (version === undefined
        ? this.create(user, credential, signal)
        : this.#replace(user, credential, version, signal));
    }, isRace);
  }

  /** Throws AlreadyExists if the user has a password. */
  async create(user: string, credential: NewCredential, signal: AbortSignal): Promise<void> {
    const object = credentialObject(this.#options.group, user, credential, undefined);
    await this.#write('POST', this.#cache.path, object, signal);
  }

  async #replace(
    user: string,
    credential: NewCredential,
    version: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { group } = this.#options;
    const object = credentialObject(group, user, credential, version);
    try {
      await this.#write('PUT', this.#cache.pathOf(user), object, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw newConflict({ group, resource: CREDENTIAL.plural }, user, 'the object was deleted');
    }
  }

  async #write(method: 'POST' | 'PUT', path: string, json: object, signal: AbortSignal): Promise<void> {
    try {
      this.#cache.index.put(await this.#options.client.json({ method, path, json, signal }));
    } catch (error) {
      // The message of kube-apiserver contains the invalid value.
      if (isInvalid(error)) {
        const field = error.details?.causes?.[0]?.field;
        throw newInternalError(new Error(`kube-apiserver rejected the credential (${field})`));
      }
      throw error;
    }
  }

  /** Reads only the resourceVersion, so that an invalid stored credential can be replaced. */
  async #currentVersion(user: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const found = await this.#options.client.json({ path: this.#cache.pathOf(user), signal });
      return text(recordIn(found, 'metadata')['resourceVersion']);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** Converts a Credential object. Returns undefined for an invalid or deleted object, which allows no sign-in. */
export function readCredential(object: unknown): Credential | undefined {
  const { uid, resourceVersion, deletionTimestamp } = recordIn(object, 'metadata');
  const { passwordHash, userUID, mustChange, changedTime } = recordIn(object, 'spec');
  if (typeof resourceVersion !== 'string' || deletionTimestamp !== undefined) return undefined;
  if (typeof uid !== 'string' || uid === '') return undefined;
  if (typeof passwordHash !== 'string' || typeof userUID !== 'string' || userUID === '') return undefined;
  const changedAt = typeof changedTime === 'string' ? Date.parse(changedTime) : Number.NaN;
  if (!Number.isFinite(changedAt)) return undefined;
  return {
    uid,
    passwordHash,
    userUID,
    mustChange: mustChange !== undefined && mustChange !== false,
    changedAt,
    resourceVersion,
  };
}

/** The owner reference makes the garbage collector delete the credential with its user. */
export function credentialObject(
  group: string,
  user: string,
  credential: NewCredential,
  resourceVersion: string | undefined,
): object {
  const { passwordHash, userUID, mustChange, changedAt } = credential;
  const spec: CredentialSpec = {
    userUID,
    passwordHash,
    ...(mustChange ? { mustChange } : {}),
    changedTime: new Date(changedAt).toISOString(),
  };
  const apiVersion = `${group}/${VERSION}`;
  return {
    apiVersion,
    kind: CREDENTIAL.kind,
    metadata: {
      name: user,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ownerReferences: [{ apiVersion, kind: USER.kind, name: user, uid: userUID }],
    },
    spec,
  };
}
