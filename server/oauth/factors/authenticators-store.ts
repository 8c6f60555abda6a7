// Store of Authenticators objects: the passkeys, authenticator apps and recovery codes of users. Reads for a decision come from a
// cache; each change is computed from the current object of the cluster, and written only if the object has not changed meanwhile.
import {
  AUTHENTICATORS,
  type AuthenticatorsSpec,
  AuthenticatorsSpecSchema,
  type Passkey,
  type RecoveryCode,
  type TOTPAuthenticator,
} from '../../../apis/iam/v1beta1/authenticators-resource.ts';
import { VERSION } from '../../../apis/iam/v1beta1/group-version.ts';
import { USER } from '../../../apis/iam/v1beta1/user-resource.ts';
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  newInternalError,
  newServiceUnavailable,
} from '../../../apis/meta/v1/errors.ts';
import { compileSchema } from '../../../apis/reading/schema-validator.ts';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { retryConflicts } from '../../cluster/retry-conflicts.ts';
import type { UserID } from '../users/account.ts';
import { ObjectCache, type ObjectCacheOptions } from '../users/object-cache.ts';

/** What a user can prove besides a password. */
export interface Factors {
  readonly passkeys: readonly Passkey[];
  readonly totp?: TOTPAuthenticator | undefined;
  readonly recoveryCodes: readonly RecoveryCode[];
}

export const NO_FACTORS: Factors = { passkeys: [], recoveryCodes: [] };

/** Factors of users, from the cache. `synced` and `catchUp` behave as in UserDirectory. */
export interface AuthenticatorsDirectory {
  readonly synced: boolean;
  of(user: UserID): Factors;
  catchUp?(user: string, call: CallContext): Promise<void>;
}

/** Returns the changed factors; undefined to change nothing. */
export type FactorsChange = (current: Factors) => Factors | undefined | Promise<Factors | undefined>;

export interface StoredFactors {
  readonly user: UserID;
  readonly factors: Factors;
}

/** An object in the cluster; undefined `stored` if it is not valid for the user. */
interface Current {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly stored: StoredFactors | undefined;
}

const validate = compileSchema(AuthenticatorsSpecSchema);
/** No code has this hash. */
const UNUSABLE: Factors = { passkeys: [], recoveryCodes: [{ hash: '' }] };

export class AuthenticatorsStore implements AuthenticatorsDirectory {
  readonly #options: ObjectCacheOptions;
  readonly #cache: ObjectCache<StoredFactors>;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
    this.#cache = new ObjectCache(AUTHENTICATORS.plural, readAuthenticators, options);
  }

  /** Fills the cache until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void> {
    return this.#cache.run(signal);
  }

  get synced(): boolean {
    return this.#cache.synced;
  }

  of(user: UserID): Factors {
    return factorsFor(user, this.#cache.index.get(user.name));
  }

  catchUp(user: string, call: CallContext): Promise<void> {
    return this.#cache.catchUp(user, call);
  }

  /** All users with factors, from the cache, in no order. */
  *all(): Generator<StoredFactors> {
    yield* this.#cache.index.values();
  }

  /**
   * Applies a change to the factors of a user, and returns them; undefined if `change` does. After a conflict, `change` decides
   * again. An object without factors is deleted. Throws ServiceUnavailable while the factors cannot be changed.
   */
  async update(user: UserID, change: FactorsChange, signal: AbortSignal): Promise<Factors | undefined> {
    try {
      return await retryConflicts(async () => {
        const current = await this.#read(user.name, signal);
        const changed = await change(factorsFor(user, current?.stored));
        if (changed) await this.#write(user, changed, current, signal);
        return changed;
      }, isRace);
    } catch (error) {
      if (!isRace(error)) throw withoutSpec(error);
      throw newServiceUnavailable('cannot change the authenticators', 1, { cause: error });
    }
  }

  async #read(name: string, signal: AbortSignal): Promise<Current | undefined> {
    try {
      const found = await this.#options.client.json({ path: this.#cache.pathOf(name), signal });
      this.#cache.index.put(found);
      const { uid, resourceVersion } = recordIn(found, 'metadata');
      return { uid: text(uid), resourceVersion: text(resourceVersion), stored: readAuthenticators(found) };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #write(
    user: UserID,
    factors: Factors,
    current: Current | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, group } = this.#options;
    const path = current ? this.#cache.pathOf(user.name) : this.#cache.path;
    if (!isEmpty(factors)) {
      const json = authenticatorsObject(group, user, factors, current?.resourceVersion);
      const method = current ? 'PUT' : 'POST';
      this.#cache.index.put(await client.json({ method, path, json, signal }));
    } else if (current) {
      const { uid, resourceVersion } = current;
      const json = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } };
      await client.json({ method: 'DELETE', path, json, signal });
      this.#cache.index.remove(user.name, uid);
    }
  }
}

/** Whether a user has none, and needs none of them to sign in. */
export function isEmpty({ passkeys, totp, recoveryCodes }: Factors): boolean {
  return passkeys.length === 0 && totp === undefined && recoveryCodes.length === 0;
}

/** The object was changed, created or deleted meanwhile. */
function isRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

/** Ignores the factors of an earlier user with the same name. */
function factorsFor(user: UserID, stored: StoredFactors | undefined): Factors {
  return stored?.user.uid === user.uid ? stored.factors : NO_FACTORS;
}

/**
 * Converts an Authenticators object. Undefined for a deleted object, and without a user. For an object that is otherwise invalid, the
 * user needs a recovery code that does not exist, because the user may have had a valid one.
 */
export function readAuthenticators(object: unknown): StoredFactors | undefined {
  const { name, deletionTimestamp } = recordIn(object, 'metadata');
  const spec = record(object)['spec'];
  const uid = text(recordIn(object, 'spec')['userUID']);
  if (typeof name !== 'string' || deletionTimestamp !== undefined || uid === '') return undefined;
  const user = { name, uid };
  if (!validate(spec)) return { user, factors: UNUSABLE };
  const { passkeys = [], totp, recoveryCodes = [] } = spec;
  return { user, factors: { passkeys, totp, recoveryCodes } };
}

/** The owner reference makes the garbage collector delete the object with its user. */
function authenticatorsObject(
  group: string,
  { name, uid }: UserID,
  { passkeys, totp, recoveryCodes }: Factors,
  resourceVersion: string | undefined,
): object {
  const apiVersion = `${group}/${VERSION}`;
  const spec: AuthenticatorsSpec = {
    userUID: uid,
    ...(passkeys.length > 0 ? { passkeys: [...passkeys] } : {}),
    ...(totp ? { totp } : {}),
    ...(recoveryCodes.length > 0 ? { recoveryCodes: [...recoveryCodes] } : {}),
  };
  return {
    apiVersion,
    kind: AUTHENTICATORS.kind,
    metadata: {
      name,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ownerReferences: [{ apiVersion, kind: USER.kind, name, uid }],
    },
    spec,
  };
}

/** The message of kube-apiserver contains the invalid value. */
function withoutSpec(error: unknown): unknown {
  if (!isInvalid(error)) return error;
  const field = error.details?.causes?.[0]?.field;
  return newInternalError(new Error(`kube-apiserver rejected the authenticators (${field})`));
}
