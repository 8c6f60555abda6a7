// Signs people in at the pages of identity providers. provider-redirects.ts sends the browser there and back.
import type { LoginRecord, LoginRecords } from '../../passwords/login-records.ts';
import { refusalText } from '../../passwords/sign-in-refusal.ts';
import type { AccountLinks, LinkOutcome } from '../../providers/account-links.ts';
import type { ConfiguredProvider, ProviderChoice } from '../../providers/configured-provider.ts';
import type { Identities, KnownPerson, NewPerson } from '../../providers/identities.ts';
import {
  type AuthenticatedPerson,
  ProviderUnavailable,
  type RedirectOptions,
  type RedirectProvider,
  type RedirectSecrets,
  SignInRefused,
} from '../../providers/provider.ts';
import type { UserID } from '../../users/account.ts';
import type { FormAttempt } from './continuation.ts';

/** What the browser has brought back. */
interface ProviderResponse {
  /** The redirect URI with the parameters of the provider. */
  readonly callback: URL;
  readonly state: string;
  readonly secrets: RedirectSecrets;
  /** The person must not have been authenticated before, in ms since the epoch. */
  readonly notBefore: number;
}

export type RedirectVerdict =
  | KnownPerson
  /** Chooses a user name. */
  | { readonly newPerson: NewPerson }
  /** The reason, for the person. */
  | { readonly refusal: string };

export type LinkVerdict =
  /** Display name of the provider. */
  | { readonly linked: string }
  /** The reason, for the person. */
  | { readonly refusal: string };

interface RedirectSignInOptions {
  /** In the order of the configuration. */
  readonly providers: readonly ConfiguredProvider<RedirectProvider>[];
  readonly identities: Pick<Identities, 'resolve'>;
  readonly links: Pick<AccountLinks, 'link'>;
  readonly records: LoginRecords;
}

const NOT_CONFIGURED = { refusal: 'This provider is not configured any more.' };
const UNAVAILABLE = 'cannot be reached at the moment. Try again later, or sign in another way.';
const NOT_AGAIN = 'did not ask you to sign in again, as is required here.';
const REFUSED = 'did not confirm who you are. Try again, or sign in another way.';

export class RedirectSignIn {
  readonly #options: RedirectSignInOptions;

  constructor(options: RedirectSignInOptions) {
    this.#options = options;
  }

  get choices(): readonly ProviderChoice[] {
    return this.#options.providers.map(({ provider }) => provider);
  }

  /** The address at the provider, or the reason why it does not work. */
  async begin(name: string, options: RedirectOptions): Promise<URL | { readonly refusal: string }> {
    const found = this.#find(name);
    if (!found) return NOT_CONFIGURED;
    try {
      return await found.provider.begin(options);
    } catch (error) {
      return { refusal: `${found.provider.displayName} ${reasonFor(error)}` };
    }
  }

  /** Verifies the response of the provider, and finds the user. Throws ServiceUnavailable during an outage of the cluster. */
  async finish(name: string, response: ProviderResponse, attempt: FormAttempt): Promise<RedirectVerdict> {
    const found = await this.#authenticated(name, response, attempt);
    if ('refusal' in found) return found;
    const { authenticated, rules } = found;
    const { issuer, subject } = authenticated.person;
    const refused = { provider: name, person: { issuer, subject } };
    const known = await this.#options.identities.resolve(authenticated, rules, attempt);
    if (typeof known === 'string') {
      this.#record(attempt, { outcome: known, ...refused });
      return { refusal: refusalText(known) };
    }
    if ('account' in known) {
      this.#record(attempt, { provider: name, outcome: 'success', user: known.account.name });
      return known;
    }
    this.#record(attempt, { outcome: 'name_missing', ...refused });
    return { newPerson: known };
  }

  /** Verifies the response of the provider, and links the person to a user who is signed in. Throws like `finish`. */
  async link(
    name: string,
    response: ProviderResponse,
    attempt: FormAttempt,
    user: UserID,
  ): Promise<LinkVerdict> {
    const found = await this.#authenticated(name, response, attempt);
    if ('refusal' in found) return found;
    const { person } = found.authenticated;
    const outcome = await this.#options.links.link(name, person, user, attempt);
    return linkVerdict(outcome, found.provider.displayName);
  }

  async #authenticated(
    name: string,
    { callback, state, secrets, notBefore }: ProviderResponse,
    attempt: FormAttempt,
  ): Promise<
    | (ConfiguredProvider<RedirectProvider> & { readonly authenticated: AuthenticatedPerson })
    | { readonly refusal: string }
  > {
    const found = this.#find(name);
    if (!found) return NOT_CONFIGURED;
    const { displayName } = found.provider;
    try {
      const authenticated = await found.provider.finish(callback, state, secrets);
      if ((authenticated.authTime ?? 0) >= notBefore) return { ...found, authenticated };
      this.#record(attempt, {
        provider: name,
        outcome: 'refused_by_provider',
        reason: authenticated.authTime === undefined ? 'auth_time is missing' : 'auth_time is too old',
      });
      return { refusal: `${displayName} ${NOT_AGAIN}` };
    } catch (error) {
      const reason = reasonFor(error);
      const outcome = error instanceof SignInRefused ? 'refused_by_provider' : 'unavailable';
      this.#record(attempt, { provider: name, outcome, reason: error instanceof Error ? error.message : '' });
      return { refusal: `${displayName} ${reason}` };
    }
  }

  #find(name: string): ConfiguredProvider<RedirectProvider> | undefined {
    return this.#options.providers.find(({ provider }) => provider.name === name);
  }

  #record(
    attempt: FormAttempt,
    result: Omit<LoginRecord, 'method' | 'user'> & { readonly user?: string },
  ): void {
    this.#options.records.record(attempt, { method: 'provider', user: undefined, ...result });
  }
}

const NOT_LINKED: Readonly<Record<Exclude<LinkOutcome, 'linked'>, string>> = {
  'already linked': 'This account is already linked to you.',
  'belongs to another user': 'This account is linked to another user, so it cannot be linked to you.',
  'too many': 'You have too many linked accounts. Unlink one first.',
};

export function linkVerdict(outcome: LinkOutcome, provider: string): LinkVerdict {
  return outcome === 'linked' ? { linked: provider } : { refusal: NOT_LINKED[outcome] };
}

/** Throws every other error. */
function reasonFor(error: unknown): string {
  if (error instanceof ProviderUnavailable) return UNAVAILABLE;
  if (error instanceof SignInRefused) return REFUSED;
  throw error;
}
