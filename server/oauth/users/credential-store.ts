// Store of password hashes in Credential objects, separate from User objects. Password hashes are never logged, not
// even in errors of kube-apiserver.
import { CREDENTIAL, type CredentialSpec } from '../../../apis/iam/v1beta1/credential-resource.ts';
import { isNotFound, newConflict } from '../../../apis/meta/v1/errors.ts';
import { optionalTime, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Credential, CredentialStore, NewCredential, WrittenCredential } from './account.ts';
import { ObjectStore, type ObjectStoreOptions, withoutValues } from './object-store.ts';

export class ClusterCredentialStore extends ObjectStore<Credential> implements CredentialStore {
  constructor(options: ObjectStoreOptions) {
    super(CREDENTIAL, readCredential, options);
  }

  get(user: string): Credential | undefined {
    return this.index.get(user);
  }

  /** Hashes of all users, in no order. */
  *hashes(): Generator<string> {
    for (const { passwordHash } of this.index.values()) yield passwordHash;
  }

  async set(user: string, credential: WrittenCredential, signal: AbortSignal): Promise<void> {
    try {
      const { resourceVersion } = credential;
      const spec = credentialSpec(credential);
      const next = (current?: object): object =>
        this.newObject(user, spec, current, ownerOf(user, credential));
      if (resourceVersion === undefined) await this.updateObject(user, next, signal);
      else await this.putObject(user, next({ metadata: { resourceVersion } }), signal);
    } catch (error) {
      if (!isNotFound(error)) throw withoutValues(error);
      const resource = { group: this.options.group, resource: CREDENTIAL.plural };
      throw newConflict(resource, user, 'the object was deleted');
    }
  }

  /** Throws AlreadyExists if the user has a password. */
  async create(user: string, credential: NewCredential, signal: AbortSignal): Promise<void> {
    const object = this.newObject(user, credentialSpec(credential), undefined, ownerOf(user, credential));
    await this.postObject(object, signal).catch((error: unknown) => {
      throw withoutValues(error);
    });
  }
}

function ownerOf(name: string, { userUID: uid }: NewCredential) {
  return { name, uid };
}

/** Converts a Credential object. Returns undefined for an invalid or deleted object, which allows no sign-in. */
export function readCredential(object: unknown): Credential | undefined {
  const { uid, resourceVersion, deletionTimestamp } = recordIn(object, 'metadata');
  const { passwordHash, userUID, mustChange, changedTime } = recordIn(object, 'spec');
  if (typeof resourceVersion !== 'string' || deletionTimestamp !== undefined) return undefined;
  if (typeof uid !== 'string' || uid === '') return undefined;
  if (typeof passwordHash !== 'string' || typeof userUID !== 'string' || userUID === '') return undefined;
  const changedAt = optionalTime(changedTime);
  if (changedAt === undefined) return undefined;
  return {
    uid,
    passwordHash,
    userUID,
    mustChange: mustChange !== undefined && mustChange !== false,
    changedAt,
    resourceVersion,
  };
}

function credentialSpec({ passwordHash, userUID, mustChange, changedAt }: NewCredential): CredentialSpec {
  return {
    userUID,
    passwordHash,
    ...(mustChange ? { mustChange } : {}),
    changedTime: new Date(changedAt).toISOString(),
  };
}
