// Signs people in with a password of an identity provider. passwords/ decides when providers are asked, and limits attempts.
import { type Authentication, byIdentity } from '../sessions/proof.ts';
import type { Account } from '../users/account.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import type { Identities, PersonRefusal } from './identities.ts';
import {
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
    };

export interface ProviderAttempt extends Omit<PasswordAttempt, 'resolved'> {
  /** Called before the password is verified, with a key of the person. Its error prevents the verification. */
  readonly resolved: (key: string) => void;
}

export interface ProviderSignInOptions {
  /** In the order of the configuration. */
  readonly providers: readonly ConfiguredProvider<PasswordProvider>[];
  readonly identities: Pick<Identities, 'resolve'>;
  /** Ms since the epoch. */
  readonly now: () => number;
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

  /** The first provider that knows the name decides. */
  async check({ resolved, ...attempt }: ProviderAttempt): Promise<ProviderVerdict> {
    let verdict: ProviderVerdict = { outcome: 'unknown_user' };
    for (const { provider, rules } of this.#options.providers) {
      const { name } = provider;
      try {
        const result = await provider.signIn({
          ...attempt,
          resolved: ({ issuer, subject }) => resolved(`${name} ${issuer} ${subject}`),
        });
        if (result === 'unknown_user') continue;
        if (typeof result === 'string') return { outcome: result, provider: name };
        const known = await this.#options.identities.resolve(result, rules, attempt);
        const { issuer, subject, amr } = result.person;
        if (typeof known === 'string') return { outcome: known, provider: name, person: { issuer, subject } };
        const { account, proof, password } = known;
        return {
          outcome: 'success',
          provider: name,
          account,
          authentication: byIdentity(proof, password, this.#options.now(), amr),
        };
      } catch (error) {
        if (!(error instanceof ProviderUnavailable)) throw error;
        verdict = { outcome: 'unavailable', provider: name };
      }
    }
    return verdict;
  }
}
