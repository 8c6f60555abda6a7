// Adds an authenticator app, a passkey and recovery codes to the factors of a user. The conditions are checked in the write itself, so that of
// concurrent enrolments only one succeeds, and a form that is submitted again has no effect.
import { hash } from 'node:crypto';
import { MAX_PASSKEYS } from '../../../apis/iam/v1beta1/authenticators-resource.ts';
import type { Authentication } from '../sessions/proof.ts';
import type { UserID } from '../users/account.ts';
import type { AuthenticatorsStore, Factors } from './authenticators-store.ts';
import type { FactorPolicy } from './factor-policy.ts';
import type { NewPasskey } from './passkeys.ts';
import { unusedCode } from './recovery-codes.ts';

/**
 * What allows the user to add a factor: that there is none yet, a one-time code in whose place it comes, or a session that was
 * authenticated with all factors.
 */
export type EnrolmentRight =
  | { readonly kind: 'first' }
  | { readonly kind: 'one-time code'; readonly hash: string }
  | {
      readonly kind: 'session';
      readonly authentication: Authentication;
      /** The factors that the user has seen (`versionOf`). Otherwise, an old form could make used codes valid again. */
      readonly version: string;
    };

/** At most one of `app` and `passkey`; none of them for new recovery codes only. */
export interface NewFactors {
  readonly app?: { readonly secret: string; readonly step: number } | undefined;
  readonly passkey?: NewPasskey | undefined;
  /** Hashes of recovery codes, which replace all others; undefined to keep those. */
  readonly codes?: readonly string[] | undefined;
}

export interface EnrolmentOptions {
  readonly authenticators: Pick<AuthenticatorsStore, 'update'>;
  readonly factorPolicy: Pick<FactorPolicy, 'lacksFactor'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** `changed`: the user has other factors meanwhile, so that the right is not valid any more. `known`: the user has this passkey already. */
type EnrolmentOutcome = 'added' | 'changed' | 'known';

/** Changes when a factor or a recovery code is added, removed or used up. */
export function versionOf({ passkeys, totp, recoveryCodes }: Factors): string {
  const version = [passkeys.map(({ id }) => id), totp?.secret, recoveryCodes.map((code) => code.hash)];
  return hash('sha256', JSON.stringify(version), 'base64url');
}

/** Throws ServiceUnavailable. */
export async function enrol(
  user: UserID,
  right: EnrolmentRight,
  { app, passkey, codes }: NewFactors,
  { authenticators, factorPolicy, now }: EnrolmentOptions,
  signal: AbortSignal,
): Promise<EnrolmentOutcome> {
  let outcome: EnrolmentOutcome = 'changed';
  await authenticators.update(
    user,
    (current) => {
      const isAllowed =
        right.kind === 'session'
          ? right.version === versionOf(current) &&
            !factorPolicy.lacksFactor(user, right.authentication, current)
          : mayAddFirst(right, current, now());
      outcome = isAllowed ? addable(passkey, current) : 'changed';
      if (outcome !== 'added') return undefined;
      const addedTime = new Date(now()).toISOString();
      return {
        ...current,
        ...(app ? { totp: { secret: app.secret, addedTime, lastStep: app.step } } : {}),
        ...(passkey ? { passkeys: [...current.passkeys, { ...passkey, addedTime }] } : {}),
        ...(codes ? { recoveryCodes: codes.map((hash) => ({ hash })) } : {}),
      };
    },
    signal,
  );
  return outcome;
}

/** A page with too many passkeys is out of date. */
function addable(passkey: NewPasskey | undefined, { passkeys }: Factors): EnrolmentOutcome {
  if (!passkey) return 'added';
  if (passkeys.some(({ id }) => id === passkey.id)) return 'known';
  return passkeys.length < MAX_PASSKEYS ? 'added' : 'changed';
}

function mayAddFirst(
  right: Exclude<EnrolmentRight, { readonly kind: 'session' }>,
  { passkeys, totp, recoveryCodes }: Factors,
  now: number,
): boolean {
  if (passkeys.length > 0 || totp !== undefined) return false;
  if (right.kind === 'first') return recoveryCodes.length === 0;
  return unusedCode(recoveryCodes, right.hash, now) !== undefined;
}
