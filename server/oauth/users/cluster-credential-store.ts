// Password hashes as custom resources, apart from users so that who may list users does not see them. Nothing of them
// is logged, and errors of the cluster that could repeat one are not passed on.
import { CREDENTIAL } from '../../../apis/iam/v1beta1/credential.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  newConflict,
  newInternalError,
} from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { Credential, CredentialStore, NewCredential, WrittenCredential } from './account.ts';
import { credentialObject, readCredential } from './credential-object.ts';
import { FollowedObjects, type FollowedOptions } from './followed-objects.ts';

/** How often a write without a precondition is tried again when others write the same object. */
const ATTEMPTS = 5;

export class ClusterCredentialStore implements CredentialStore {
  readonly #options: FollowedOptions;
  readonly #followed: FollowedObjects<Credential>;

  constructor(options: FollowedOptions) {
    this.#options = options;
    this.#followed = new FollowedObjects(CREDENTIAL.plural, readCredential, options);
  }

  /** Follows the Credential objects until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void> {
    return this.#followed.run(signal);
  }

  /** False while the cache is not filled, or when the cluster was silent for too long. */
  get synced(): boolean {
    return this.#followed.synced;
  }

  get(user: string): Credential | undefined {
    return this.#followed.index.get(user);
  }

  /** Of all users, in no order. */
  *hashes(): Generator<string> {
    for (const { passwordHash } of this.#followed.index.values()) yield passwordHash;
  }

  catchUp(user: string, signal: AbortSignal): Promise<void> {
    return this.#followed.catchUp(user, signal);
  }

  async set(user: string, credential: WrittenCredential, signal: AbortSignal): Promise<void> {
    if (credential.resourceVersion !== undefined) {
      await this.#put(user, credential, credential.resourceVersion, signal);
      return;
    }
    for (let attempt = 1; ; attempt++) {
      try {
        const version = await this.#version(user, signal);
        await (version === undefined
          ? this.create(user, credential, signal)
          : this.#put(user, credential, version, signal));
        return;
      } catch (error) {
        if (!isRace(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Throws AlreadyExists when the user has a password. */
  async create(user: string, credential: NewCredential, signal: AbortSignal): Promise<void> {
    await this.#write(
      'POST',
      this.#followed.path,
      credentialObject(this.#options.group, user, credential, undefined),
      signal,
    );
  }

  async #put(user: string, credential: NewCredential, version: string, signal: AbortSignal): Promise<void> {
    const { group } = this.#options;
    try {
      await this.#write(
        'PUT',
        this.#followed.pathOf(user),
        credentialObject(group, user, credential, version),
        signal,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw newConflict({ group, resource: CREDENTIAL.plural }, user, 'the object was deleted');
    }
  }

  async #write(method: 'POST' | 'PUT', path: string, json: object, signal: AbortSignal): Promise<void> {
    try {
      this.#followed.index.put(await this.#options.client.json({ method, path, json, signal }));
    } catch (error) {
      // The definition refuses a value by repeating it.
      if (isInvalid(error)) {
        throw newInternalError(
          new Error(`the cluster refuses the credential (${error.details?.causes?.[0]?.field})`),
        );
      }
      throw error;
    }
  }

  async #version(user: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      // Whatever it holds now is replaced; only its version counts.
      const found = await this.#options.client.json({ path: this.#followed.pathOf(user), signal });
      const { resourceVersion } = recordIn(found, 'metadata');
      return text(resourceVersion);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

function isRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error);
}
