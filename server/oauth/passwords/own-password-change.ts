// Replaces the password of a user who has just entered the current one: at a forced change during a sign-in, on the account
// page, and in the API.
import { isConflict } from '../../../apis/meta/v1/errors.ts';
import { userCaller } from '../../authentication/user.ts';
import type { UserSessions } from '../sessions/user-sessions.ts';
import type { CredentialStore, PasswordID, UserID } from '../users/account.ts';
import type { PasswordHasher } from './password-hasher.ts';
import { isSamePassword, newChangeTime, passwordViolations } from './password-policy.ts';

interface OwnPasswordChangeOptions {
  readonly credentials: CredentialStore;
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
  readonly userSessions: Pick<UserSessions, 'terminate'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** `invalid`: a phrase that follows "the password". `conflict`: the password was changed meanwhile. */
type ChangeOutcome = { readonly invalid: string } | { readonly credential: PasswordID } | 'conflict';

export class OwnPasswordChange {
  readonly #options: OwnPasswordChangeOptions;

  constructor(options: OwnPasswordChangeOptions) {
    this.#options = options;
  }

  /**
   * Replaces the password only if it is still `proven`, the password that the user has verified, and ends all sessions of the
   * user. Throws ServiceUnavailable when the cluster is unavailable.
   */
  async change(
    account: UserID,
    password: string,
    proven: PasswordID,
    signal: AbortSignal,
  ): Promise<ChangeOutcome> {
    const { credentials, hasher, userSessions, now } = this.#options;
    const [violation] = passwordViolations(password, account.name);
    if (violation !== undefined) return { invalid: violation };
    // Read again, because the verification may have replaced a weak hash.
    const current = credentials.get(account.name);
    if (!isSamePassword(proven, current) || current.userUID !== account.uid) return 'conflict';
    const caller = userCaller(account);
    if (await hasher.verify(current.passwordHash, password, { flow: 'known', caller, signal })) {
      return { invalid: 'must differ from the current one' };
    }
    const passwordHash = await hasher.hash(password, { caller, signal });
    const changedAt = newChangeTime(proven.changedAt, now());
    const { uid, resourceVersion, userUID } = current;
    const next = { passwordHash, userUID, mustChange: false, changedAt, resourceVersion };
    try {
      await credentials.set(account.name, next, signal);
    } catch (error) {
      if (isConflict(error)) return 'conflict';
      throw error;
    }
    await userSessions.terminate(account.name, signal);
    return { credential: { uid, changedAt } };
  }
}
