// Second factors in memory for tests, and the parts of a server without any.
import { Secret, TOTP } from 'otpauth';
import {
  type AuthenticatorsDirectory,
  type Factors,
  type FactorsChange,
  NO_FACTORS,
} from '../../../server/oauth/factors/authenticators-store.ts';
import type { FactorPolicy } from '../../../server/oauth/factors/factor-policy.ts';
import { newTOTPSecret, TOTPSecrets } from '../../../server/oauth/factors/totp.ts';
import type { KeyRing } from '../../../server/oauth/keys/key-ring.ts';
import type { UserID } from '../../../server/oauth/users/account.ts';

export const NO_FACTORS_NEEDED: Pick<FactorPolicy, 'synced' | 'lacksFactor'> = {
  synced: true,
  lacksFactor: () => false,
};

/** Changes are applied one after the other, as by compare-and-set writes. */
export class MemoryAuthenticators implements AuthenticatorsDirectory {
  readonly synced = true;
  /** What a replica still has in its cache after a write of another replica. */
  cached: Factors | undefined;
  /** Called in each update. */
  meanwhile: () => Promise<void> = async () => undefined;
  readonly #factors = new Map<string, { readonly user: UserID; readonly factors: Factors }>();
  #last: Promise<unknown> = Promise.resolve();

  of(user: UserID): Factors {
    return this.cached ?? this.#stored(user);
  }

  #stored({ uid }: UserID): Factors {
    return this.#factors.get(uid)?.factors ?? NO_FACTORS;
  }

  *all(): Generator<{ readonly user: UserID; readonly factors: Factors }> {
    yield* this.#factors.values();
  }

  update(user: UserID, change: FactorsChange): Promise<Factors | undefined> {
    const next = this.#last.then(async () => {
      await this.meanwhile();
      const changed = await change(this.#stored(user));
      if (changed) this.#factors.set(user.uid, { user, factors: changed });
      return changed;
    });
    this.#last = next.catch(() => undefined);
    return next;
  }
}

/** Gives a user an authenticator app, and returns its secret. */
export async function addApp(
  {
    authenticators,
    keys,
  }: { readonly authenticators: MemoryAuthenticators; readonly keys: Pick<KeyRing, 'macs'> },
  user: UserID,
  recoveryCodes: Factors['recoveryCodes'] = [],
): Promise<string> {
  const secret = newTOTPSecret();
  const sealed = await new TOTPSecrets(keys).seal(user, secret);
  await authenticators.update(user, () => ({
    passkeys: [],
    totp: { secret: sealed, addedTime: new Date(0).toISOString(), lastStep: 0 },
    recoveryCodes,
  }));
  return secret;
}

/** The code that an authenticator app shows. */
export function codeOf(secret: string, now: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now });
}

/** The secret on the page that adds an authenticator app. */
export function secretOn(page: string): string {
  return (/<code>([A-Z2-7 ]+)<\/code>/.exec(page)?.[1] ?? '').replaceAll(' ', '');
}

/** The recovery codes on the page that shows them. */
export function recoveryCodesOn(page: string): readonly string[] {
  return [...page.matchAll(/<li><code>([a-z2-7-]+)<\/code>/g)].map(([, code = '']) => code);
}
