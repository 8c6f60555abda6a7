// Adds an authenticator app, a passkey and recovery codes to the factors of a user. The conditions are checked in the write itself, so that of
// concurrent enrolments only one succeeds.

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
  | { readonly kind: 'session'; readonly authentication: Authentication };

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

/** False if the user has other factors meanwhile, so that the right is not valid any more. Throws ServiceUnavailable. */
export async function enrol(
  user: UserID,
  right: EnrolmentRight,
  { app, passkey, codes }: NewFactors,
  { authenticators, factorPolicy, now }: EnrolmentOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const written = await authenticators.update(
    user,
    (current) => {
      const isAllowed =
        right.kind === 'session'
          ? !factorPolicy.lacksFactor(user, right.authentication, current)
          : mayAddFirst(right, current, now());
      if (!isAllowed || (passkey && !mayAddPasskey(passkey, current))) return undefined;
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
  return written !== undefined;
}

function mayAddPasskey(added: NewPasskey, { passkeys }: Factors): boolean {
  return passkeys.length < MAX_PASSKEYS && passkeys.every(({ id }) => id !== added.id);
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
