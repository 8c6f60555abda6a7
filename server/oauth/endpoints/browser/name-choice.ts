// Creates the user of a person who chooses its name. Each rejected name counts as a failed attempt, because it tells that a user may exist.
import { isUserName } from '../../../../apis/iam/v1beta1/custom-resource.ts';
import type { LoginOutcome, LoginRecord, LoginRecords } from '../../passwords/login-records.ts';
import type { ConfiguredProvider } from '../../providers/configured-provider.ts';
import type { Identities, KnownPerson, NewPerson, PersonRefusal } from '../../providers/identities.ts';
import { beginAttempt, type LoginThrottle } from '../../throttle/login-throttle.ts';
import type { FormAttempt } from './continuation.ts';

interface NameChoiceOptions {
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
    const { provider } = person;
    const { issuer, subject } = person.person;
    const record = (outcome: LoginOutcome, of: Pick<LoginRecord, 'user' | 'person'>): void =>
      this.#options.records.record(attempt, { method: 'provider', outcome, provider, ...of });
    const refused = { user: undefined, person: { issuer, subject } };
    const { throttle } = this.#options;
    const kind = 'name';
    const counted = { account: `${provider} ${issuer} ${subject}`, source: attempt.source, kind } as const;
    using choice = await beginAttempt(throttle, counted, () => record('throttled', refused));
    const result = await identities.createNamed(person, user, this.#find(provider)?.rules, attempt);
    if (typeof result !== 'string') {
      record('success', { user: result.account.name });
      return result;
    }
    if (result !== 'named_meanwhile') record(result, refused);
    if (result === 'name_taken') await choice.failed();
    return result;
  }

  #find(provider: string): ConfiguredProvider | undefined {
    return this.#options.providers.find(({ rules }) => rules.name === provider);
  }
}
