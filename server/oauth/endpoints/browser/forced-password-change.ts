import { isConflict } from '../../../../apis/meta/v1/errors.ts';
import type { PasswordHasher } from '../../passwords/hasher.ts';
import { changeTime, isStill } from '../../passwords/password-change.ts';
import { passwordFaults } from '../../passwords/password-policy.ts';
import type { CredentialStore, PasswordID, UserID } from '../../users/account.ts';

export interface ForcedPasswordChangeOptions {
  readonly credentials: CredentialStore;
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** What was wrong with the password, in words for its owner; or which one it is now; or that it is not the proven one. */
export type ChangeOutcome =
  | { readonly fault: string }
  | { readonly credential: PasswordID }
  | 'changed meanwhile';

/** Replaces a password that somebody else set, by the person who has just proven to know it. */
export class ForcedPasswordChange {
  readonly #options: ForcedPasswordChangeOptions;

  constructor(options: ForcedPasswordChangeOptions) {
    this.#options = options;
  }

  /**
   * Replaces the password that was `proven`, and no other: one that was set since is another one.
   * Throws ServiceUnavailable without the cluster.
   */
  async change(
    account: UserID,
    password: string,
    proven: PasswordID,
    signal: AbortSignal,
  ): Promise<ChangeOutcome> {
    const { credentials, hasher, now } = this.#options;
    const [fault] = passwordFaults(password, account.name);
    if (fault !== undefined) return { fault: `The new password ${fault}.` };
    const current = credentials.get(account.name);
    if (!isStill(proven, current) || !current.mustChange || current.userUID !== account.uid)
      return 'changed meanwhile';
    if (await hasher.verify(current.passwordHash, password, { flow: 'known', signal })) {
      return { fault: 'Use another password than the one you have.' };
    }
    const passwordHash = await hasher.hash(password, signal);
    const changedAt = changeTime(proven.changedAt, now());
    const { uid, resourceVersion, userUID } = current;
    const next = { passwordHash, userUID, mustChange: false, changedAt, resourceVersion };
    try {
      await credentials.set(account.name, next, signal);
    } catch (error) {
      if (isConflict(error)) return 'changed meanwhile';
      throw error;
    }
    return { credential: { uid, changedAt } };
  }
}
