// Creates the user of a person who chooses its name. Each rejected name counts as a failed attempt, because it tells that a user may exist.
import { isUserName } from '../../../../apis/iam/v1beta1/custom-resource.ts';
import type { LoginRecord, LoginRecords } from '../../passwords/login-records.ts';
import type { ConfiguredProvider } from '../../providers/configured-provider.ts';
import type { Identities, KnownPerson, NewPerson, PersonRefusal } from '../../providers/identities.ts';
import { type CountedAttempt, type LoginThrottle, throttledError } from '../../throttle/login-throttle.ts';
import type { FormAttempt } from './continuation.ts';

export interface NameChoiceOptions {
  readonly providers: readonly ConfiguredProvider[];
  readonly identities: Pick<Identities, 'createNamed'>;
  readonly throttle: Pick<LoginThrottle, 'attempt'>;
  readonly records: LoginRecords;
}

/** `name_taken`: also a reserved name. `named_meanwhile`: the person has a user now. */
export type NameRefusal = PersonRefusal | 'named_meanwhile';

export class NameChoice {
  readonly #options: NameChoiceOptions;

  constructor(options: NameChoiceOptions) {
    this.#options = options;
  }

  /** Display name of a provider; undefined if it is not configured any more. */
  providerOf({ provider }: NewPerson): string | undefined {
    return this.#find(provider)?.provider.displayName;
  }

  /**
   * `name`: as typed. Throws OAuthError 429 after too many rejected names of the person, and ServiceUnavailable during an outage of the
   * cluster.
   */
  async choose(person: NewPerson, name: string, attempt: FormAttempt): Promise<KnownPerson | NameRefusal> {
    const { identities } = this.#options;
    // As in the sign-in form.
    const user = name.trim().toLowerCase();
    if (!isUserName(user)) return 'name_invalid';
    const counted = this.#counted(person, attempt);
    try {
      const result = await identities.createNamed(person, user, this.#find(person.provider)?.rules, attempt);
      if (typeof result !== 'string') {
        this.#record(person, attempt, { outcome: 'success', user: result.account.name });
        return result;
      }
      if (result === 'name_taken') counted.failed();
      if (result !== 'named_meanwhile') this.#record(person, attempt, { outcome: result, user: undefined });
      return result;
    } finally {
      counted.cancelled();
    }
  }

  #counted({ provider, person }: NewPerson, attempt: FormAttempt): CountedAttempt {
    const { issuer, subject } = person;
    try {
      const key = `name of ${provider} ${issuer} ${subject}`;
      const counted = this.#options.throttle.attempt(key, attempt.source);
      counted.begin();
      return counted;
    } catch (error) {
      const refused = { outcome: 'throttled', user: undefined } as const;
      throw throttledError(error, () => this.#record({ provider, person }, attempt, refused));
    }
  }

  #find(provider: string): ConfiguredProvider | undefined {
    return this.#options.providers.find(({ rules }) => rules.name === provider);
  }

  #record(
    { provider, person: { issuer, subject } }: Pick<NewPerson, 'provider' | 'person'>,
    { client, source, userAgent, requestID }: FormAttempt,
    result: Pick<LoginRecord, 'outcome' | 'user'>,
  ): void {
    const origin = { method: 'provider' as const, client, source, userAgent, requestID };
    const refused = result.outcome === 'success' ? {} : { person: { issuer, subject } };
    this.#options.records.record({ ...origin, ...result, provider, ...refused });
  }
}
