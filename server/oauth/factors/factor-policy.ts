// Decides who needs a second factor: everyone who has one, and whom the configuration names by a group or an identity provider.

import {
  type Authentication,
  effectiveAccount,
  MULTIPLE_FACTORS,
  PASSWORD_ONLY,
  type Proof,
} from '../sessions/proof.ts';
import type { SecondFactorRule } from '../sessions/session-validity.ts';
import type { UserDirectory, UserID } from '../users/account.ts';
import type { IdentityDirectory } from '../users/identity-store.ts';
import type { Users } from '../users/user-directory.ts';
import { type AuthenticatorsDirectory, type Factors, isEmpty } from './authenticators-store.ts';

/** Time in ms. */
export interface SecondFactorSettings {
  readonly groups: readonly string[];
  readonly providers: readonly string[];
  /** Time after the creation of a user in which a user without a factor can add one at a sign-in. */
  readonly enrolmentPeriod: number;
}

export interface FactorPolicyOptions {
  readonly secondFactor: SecondFactorSettings;
  readonly authenticators: AuthenticatorsDirectory;
  readonly users: Pick<UserDirectory, 'get'> & Pick<Users, 'object'>;
  readonly identities: Pick<IdentityDirectory, 'get'>;
  /** Names of the identity providers whose passwords are typed on pages of this server. */
  readonly passwordProviders: ReadonlySet<string>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** Without `proof`: of a session without authentication. */
type Authenticated = Pick<Authentication, 'amr'> & { readonly proof?: Proof | undefined };

export class FactorPolicy implements SecondFactorRule {
  readonly #options: FactorPolicyOptions;
  readonly #groups: ReadonlySet<string>;

  constructor(options: FactorPolicyOptions) {
    this.#options = options;
    this.#groups = new Set(options.secondFactor.groups);
  }

  get synced(): boolean {
    return this.#options.authenticators.synced;
  }

  /** `factors`: those of the user. */
  lacksFactor(
    user: UserID,
    { proof, amr }: Authenticated = { amr: PASSWORD_ONLY },
    factors: Factors = this.#options.authenticators.of(user),
  ): boolean {
    const isPassword = this.#isPassword(proof);
    if (!amr.includes(MULTIPLE_FACTORS))
      return (isPassword && !isEmpty(factors)) || this.isRequired(user, proof);
    // The factor that was used may be deleted. A one-time code, which replaces it after a reset, was not used: a factor comes in its
    // place. After a sign-in at the pages of a provider, the factor may be one of the provider.
    return isPassword && factors.passkeys.length === 0 && factors.totp === undefined;
  }

  hasFactor(user: UserID): boolean {
    return !isEmpty(this.#options.authenticators.of(user));
  }

  /** Whether the configuration requires a factor for a user who signs in in this way. */
  isRequired(user: UserID, proof: Proof | undefined): boolean {
    const { secondFactor, users } = this.#options;
    if (this.#groups.size > 0) {
      const found = users.get(user.name);
      const account = found?.uid === user.uid ? found : undefined;
      const groups = account ? effectiveAccount(account, proof).groups : groupsOf(proof);
      if (groups.some((group) => this.#groups.has(group))) return true;
    }
    return secondFactor.providers.length > 0 && secondFactor.providers.includes(this.#providerOf(proof));
  }

  /** Whether a user without a factor can add one at this sign-in. */
  canEnrol({ name, uid }: UserID): boolean {
    const { users, secondFactor, now } = this.#options;
    const { creationTimestamp = '', uid: known } = users.object(name)?.metadata ?? {};
    return known === uid && now() < Date.parse(creationTimestamp) + secondFactor.enrolmentPeriod;
  }

  /** Whether a password was typed on a page of this server, or sent to it by a program. */
  #isPassword(proof: Proof | undefined): boolean {
    return proof?.kind !== 'identity' || this.#options.passwordProviders.has(this.#providerOf(proof));
  }

  /** Empty for a user who has not signed in with an identity provider. */
  #providerOf(proof: Proof | undefined): string {
    return proof?.kind === 'identity' ? (this.#options.identities.get(proof.name)?.provider ?? '') : '';
  }
}

function groupsOf(proof: Proof | undefined): readonly string[] {
  return proof?.kind === 'identity' ? proof.groups : [];
}
