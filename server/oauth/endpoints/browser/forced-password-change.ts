// Forces a password change at sign-in, after an administrator has set the password with `mustChange`.

import { isConflict } from '../../../../apis/meta/v1/errors.ts';
import { userCaller } from '../../../authentication/user.ts';
import type { PasswordHasher } from '../../passwords/password-hasher.ts';
import { isSamePassword, newChangeTime, passwordViolations } from '../../passwords/password-policy.ts';
import type { CredentialStore, PasswordID, UserID } from '../../users/account.ts';

export interface ForcedPasswordChangeOptions {
  readonly credentials: CredentialStore;
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** `invalid`: the problem with the new password, for the user. `conflict`: the password was changed meanwhile. */
export type ChangeOutcome = { readonly invalid: string } | { readonly credential: PasswordID } | 'conflict';

export class ForcedPasswordChange {
  readonly #options: ForcedPasswordChangeOptions;

  constructor(options: ForcedPasswordChangeOptions) {
    this.#options = options;
  }

  /**
   * Replaces the password only if it is still `proven`, the password that the user has verified. Throws ServiceUnavailable
   * when the cluster is unavailable.
   */
  async change(
    account: UserID,
    password: string,
    proven: PasswordID,
    signal: AbortSignal,
  ): Promise<ChangeOutcome> {
    const { credentials, hasher, now } = this.#options;
    const [violation] = passwordViolations(password, account.name);
    if (violation !== undefined) return { invalid: `The new password ${violation}.` };
    const current = credentials.get(account.name);
    if (!isSamePassword(proven, current) || !current.mustChange || current.userUID !== account.uid)
      return 'conflict';
    if (
      await hasher.verify(current.passwordHash, password, {
        flow: 'known',
        caller: userCaller(account),
        signal,
      })
    ) {
      return { invalid: 'The new password must differ from the current one.' };
    }
    const passwordHash = await hasher.hash(password, { caller: userCaller(account), signal });
    const changedAt = newChangeTime(proven.changedAt, now());
    const { uid, resourceVersion, userUID } = current;
    const next = { passwordHash, userUID, mustChange: false, changedAt, resourceVersion };
    try {
      await credentials.set(account.name, next, signal);
    } catch (error) {
      if (isConflict(error)) return 'conflict';
      throw error;
    }
    return { credential: { uid, changedAt } };
  }
}
