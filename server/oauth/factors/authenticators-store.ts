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
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { compileSchema } from '../../../apis/reading/schema-validator.ts';
import { record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { UserDirectory, UserID } from '../users/account.ts';
import { isRace, ObjectStore, type ObjectStoreOptions, withoutValues } from '../users/object-store.ts';

/** What a user can prove besides a password. */
export interface Factors {
  readonly passkeys: readonly Passkey[];
  readonly totp?: TOTPAuthenticator | undefined;
  readonly recoveryCodes: readonly RecoveryCode[];
}

export const NO_FACTORS: Factors = { passkeys: [], recoveryCodes: [] };

/** Factors of users, from the cache. */
export interface AuthenticatorsDirectory extends Pick<UserDirectory, 'synced' | 'catchUp'> {
  of(user: UserID): Factors;
}

/** Returns the changed factors; undefined to change nothing. */
export type FactorsChange = (current: Factors) => Factors | undefined | Promise<Factors | undefined>;

export interface StoredFactors {
  readonly user: UserID;
  readonly factors: Factors;
}

/** Compiled for the first object: most clusters have none at the start. */
let validate: ReturnType<typeof compileSchema<typeof AuthenticatorsSpecSchema>> | undefined;
/** No code has this hash. */
const UNUSABLE: Factors = { passkeys: [], recoveryCodes: [{ hash: '' }] };

export class AuthenticatorsStore extends ObjectStore<StoredFactors> implements AuthenticatorsDirectory {
  constructor(options: ObjectStoreOptions) {
    super(AUTHENTICATORS, readAuthenticators, options);
  }

  of(user: UserID): Factors {
    return factorsFor(user, this.index.get(user.name));
  }

  /** All users with factors, from the cache, in no order. */
  all(): Iterable<StoredFactors> {
    return this.index.values();
  }

  /**
   * Applies a change to the factors of a user, and returns them; undefined if `change` does. After a conflict, `change` decides
   * again. An object without factors is deleted. Throws ServiceUnavailable while the factors cannot be changed.
   */
  async update(user: UserID, change: FactorsChange, signal: AbortSignal): Promise<Factors | undefined> {
    let changed: Factors | undefined;
    try {
      await this.updateObject(
        user.name,
        async (current) => {
          changed = await change(factorsFor(user, readAuthenticators(current)));
          if (!changed) return undefined;
          return isEmpty(changed) ? null : this.newObject(user.name, specOf(user, changed), current, user);
        },
        signal,
      );
      return changed;
    } catch (error) {
      if (!isRace(error)) throw withoutValues(error);
      throw newServiceUnavailable('cannot change the authenticators', 1, { cause: error });
    }
  }
}

/** Whether a user has none, and needs none of them to sign in. */
export function isEmpty({ passkeys, totp, recoveryCodes }: Factors): boolean {
  return passkeys.length === 0 && totp === undefined && recoveryCodes.length === 0;
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
  validate ??= compileSchema(AuthenticatorsSpecSchema);
  if (!validate(spec)) return { user, factors: UNUSABLE };
  const { passkeys = [], totp, recoveryCodes = [] } = spec;
  return { user, factors: { passkeys, totp, recoveryCodes } };
}

function specOf({ uid }: UserID, { passkeys, totp, recoveryCodes }: Factors): AuthenticatorsSpec {
  return {
    userUID: uid,
    ...(passkeys.length > 0 ? { passkeys: [...passkeys] } : {}),
    ...(totp ? { totp } : {}),
    ...(recoveryCodes.length > 0 ? { recoveryCodes: [...recoveryCodes] } : {}),
  };
}
