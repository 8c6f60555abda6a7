// Signs people in with a password of an identity provider. passwords/ decides when providers are asked, and limits attempts.
import type { Authentication } from '../sessions/proof.ts';
import type { Account } from '../users/account.ts';
import type { ConfiguredProvider, ProviderChoice } from './configured-provider.ts';
import type { Identities, NewPerson, PersonRefusal } from './identities.ts';
import {
  type AuthenticatedPerson,
  type PasswordAttempt,
  type PasswordProvider,
  type PasswordRejection,
  ProviderUnavailable,
} from './provider.ts';

/** The result of an attempt. Each except `unknown_user` has the provider that decided. */
export type ProviderVerdict =
  | {
      readonly outcome: 'success';
      readonly provider: string;
      readonly account: Account;
      readonly authentication: Authentication;
    }
  | {
      readonly outcome: PasswordRejection | PersonRefusal | 'unavailable';
      readonly provider?: string;
      /** The person, for the audit record of a refusal. */
      readonly person?: { readonly issuer: string; readonly subject: string };
      /** The person of `name_missing`. */
      readonly newPerson?: NewPerson;
    };

interface ProviderAttempt extends Omit<PasswordAttempt, 'resolved'> {
  /**
   * Called before the password is verified, with a key of the person, and the user to whom the person is linked. Its error prevents the
   * verification.
   */
  readonly resolved: (key: string, user: string | undefined) => Promise<void>;
}

interface ProviderSignInOptions {
  /** In the order of the configuration. */
  readonly providers: readonly ConfiguredProvider<PasswordProvider>[];
  readonly identities: Pick<Identities, 'resolve' | 'userOf'>;
}

export class ProviderSignIn {
  readonly #options: ProviderSignInOptions;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
  }

  /** What users should know while a provider does not work. */
  get notices(): readonly string[] {
    return this.#options.providers.flatMap(({ provider }) => provider.problem?.notice ?? []);
  }

  /** The providers, for the account page. */
  get choices(): readonly ProviderChoice[] {
    return this.#options.providers.map(({ provider }) => provider);
  }

  /** Verifies a password at one provider, without a user. Undefined for an unknown provider. Throws ProviderUnavailable. */
  async prove(
    name: string,
    attempt: ProviderAttempt,
  ): Promise<AuthenticatedPerson | PasswordRejection | undefined> {
    const found = this.#options.providers.find(({ provider }) => provider.name === name);
    return found && this.#signInAt(found.provider, attempt);
  }

  /** The first provider that knows the name decides. */
  async check(attempt: ProviderAttempt): Promise<ProviderVerdict> {
    let verdict: ProviderVerdict = { outcome: 'unknown_user' };
    for (const { provider, rules } of this.#options.providers) {
      const { name } = provider;
      try {
        const result = await this.#signInAt(provider, attempt);
        if (result === 'unknown_user') continue;
        if (typeof result === 'string') return { outcome: result, provider: name };
        const known = await this.#options.identities.resolve(result, rules, attempt);
        const { issuer, subject } = result.person;
        const refused = { provider: name, person: { issuer, subject } };
        if (typeof known === 'string') return { outcome: known, ...refused };
        if ('account' in known) return { outcome: 'success', provider: name, ...known };
        return { outcome: 'name_missing', newPerson: known, ...refused };
      } catch (error) {
        if (!(error instanceof ProviderUnavailable)) throw error;
        verdict = { outcome: 'unavailable', provider: name };
      }
    }
    return verdict;
  }

  /** The key of the person has the name of the provider. */
  #signInAt(
    provider: PasswordProvider,
    { resolved, ...attempt }: ProviderAttempt,
  ): Promise<AuthenticatedPerson | PasswordRejection> {
    const { name } = provider;
    const { identities } = this.#options;
    return provider.signIn({
      ...attempt,
      resolved: ({ issuer, subject }) =>
        resolved(`${name} ${issuer} ${subject}`, identities.userOf({ provider: name, issuer, subject })),
    });
  }
}
