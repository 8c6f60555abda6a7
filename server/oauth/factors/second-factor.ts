// Verifies second factors, and changes those of a user. A code is accepted by the write that uses it up, so each is valid once for all
// replicas; wrong codes of an app count for the user, and a right password does not reset them.
import { networkOf } from '../../admission/network.ts';
import type { LoginOrigin, LoginRecord, LoginRecords } from '../passwords/login-records.ts';
import { MULTIPLE_FACTORS } from '../sessions/proof.ts';
import { beginAttempt, type LoginThrottle } from '../throttle/login-throttle.ts';
import type { UserID } from '../users/account.ts';
import type { AuthenticatorsStore, Factors } from './authenticators-store.ts';
import { type OneTimeCode, resetFactors } from './factor-reset.ts';
import { hashOfCode, unusedCode } from './recovery-codes.ts';
import { isAppCode, stepOf, type TOTPSecrets } from './totp.ts';

export interface SecondFactorOptions {
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'update'>;
  readonly secrets: Pick<TOTPSecrets, 'open'>;
  readonly throttle: Pick<LoginThrottle, 'attempt' | 'forgive'>;
  readonly records: LoginRecords;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/**
 * `replace`: the user has only this one-time code, and must add a factor in its place: the code is valid until then. `wrong`: also for
 * a code that was used before.
 */
export type CodeVerdict =
  | { readonly outcome: 'accepted'; readonly amr: readonly string[] }
  | { readonly outcome: 'replace'; readonly hash: string }
  | { readonly outcome: 'wrong' };

/** Methods (RFC 8176) in addition to those of the first factor. A recovery code has no value of its own. */
export const TOTP_METHODS: readonly string[] = ['otp', MULTIPLE_FACTORS];
const RECOVERY_METHODS: readonly string[] = [MULTIPLE_FACTORS];

const WRONG: CodeVerdict = { outcome: 'wrong' };
/** An attempt is completed without its client: otherwise, disconnecting would bypass the throttle. */
const TIMEOUT_MS = 10_000;

export class SecondFactor {
  readonly #options: SecondFactorOptions;

  constructor(options: SecondFactorOptions) {
    this.#options = options;
  }

  of(user: UserID): Factors {
    return this.#options.authenticators.of(user);
  }

  /** Replaces the factors of a user by a one-time code, and ends the delays after wrong codes. The caller ends the sessions. */
  async reset(user: UserID, signal: AbortSignal): Promise<OneTimeCode> {
    const { authenticators, throttle, now } = this.#options;
    const code = await resetFactors(user, authenticators, now(), signal);
    await throttle.forgive(user.name);
    return code;
  }

  /** Verifies a code of the authenticator app, or a recovery code. Throws OAuthError 429, ServiceUnavailable. */
  async check(user: UserID, typed: string, attempt: LoginOrigin): Promise<CodeVerdict> {
    const { authenticators, throttle, records } = this.#options;
    const record = (outcome: LoginRecord['outcome']): void =>
      records.record(attempt, { method: 'second_factor', outcome, user: user.name });
    const code = typed.replaceAll(/\s/g, '');
    using counted = await beginAttempt(throttle, counterOf(user, code, attempt), () => record('throttled'));
    let verdict = WRONG;
    await authenticators.update(
      user,
      async (factors) => {
        const used = await this.#use(user, factors, code);
        ({ verdict } = used);
        return used.factors;
      },
      AbortSignal.timeout(TIMEOUT_MS),
    );
    const isWrong = verdict.outcome === 'wrong';
    record(isWrong ? 'wrong_code' : 'success');
    if (isWrong) await counted.failed();
    else counted.succeeded();
    return verdict;
  }

  async #use(
    user: UserID,
    factors: Factors,
    code: string,
  ): Promise<{ readonly verdict: CodeVerdict; readonly factors?: Factors }> {
    const now = this.#options.now();
    const { totp, passkeys, recoveryCodes } = factors;
    const secret = totp && (await this.#options.secrets.open(user, totp.secret));
    const step = secret === undefined ? undefined : stepOf(code, secret, now);
    if (totp && step !== undefined) {
      // Codes of this step and of earlier ones are used up (RFC 6238, 5.2).
      if (step <= totp.lastStep) return { verdict: WRONG };
      return {
        verdict: { outcome: 'accepted', amr: TOTP_METHODS },
        factors: { ...factors, totp: { ...totp, lastStep: step } },
      };
    }
    const found = unusedCode(recoveryCodes, hashOfCode(code), now);
    if (!found) return { verdict: WRONG };
    if (!totp && passkeys.length === 0) return { verdict: { outcome: 'replace', hash: found.hash } };
    return {
      verdict: { outcome: 'accepted', amr: RECOVERY_METHODS },
      factors: { ...factors, recoveryCodes: recoveryCodes.filter((other) => other !== found) },
    };
  }
}

/**
 * A recovery code cannot be guessed, so its failures delay only their own address: an attacker who has the password must not lock the user
 * out of it, nor of the one-time code of a reset.
 */
function counterOf({ name }: UserID, code: string, { source }: LoginOrigin) {
  return isAppCode(code)
    ? { account: name, source, kind: 'factor' as const }
    : { account: `${name} at ${networkOf(source)}`, source, kind: 'recovery' as const };
}
