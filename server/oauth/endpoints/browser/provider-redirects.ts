// Sign-in at the pages of an identity provider: sends the browser there, and reads the result when it comes back. The state
// between both is encrypted in the parameter `state`, so that tabs do not share it, and is valid in one browser only.
import type { RequestContext } from '../../../request/request-context.ts';
import type { Seal } from '../../keys/seal.ts';
import { browserIDIn, browserOf } from '../../page/form-tickets.ts';
import { redirect } from '../../page/page.ts';
import type { ProviderChoice } from '../../providers/configured-provider.ts';
import type { RedirectSecrets } from '../../providers/provider.ts';
import type { UserID } from '../../users/account.ts';
import type { FormAttempt } from './continuation.ts';
import type { LinkVerdict, RedirectSignIn, RedirectVerdict } from './redirect-sign-in.ts';
import { hasSignedInAgain, mustSignInAgain } from './upstream-sign-out.ts';

export interface ProviderRedirectsOptions {
  readonly issuer: () => string;
  readonly redirects: Pick<RedirectSignIn, 'choices' | 'begin' | 'finish' | 'link'>;
  readonly redirectSeal: Pick<Seal, 'seal' | 'open'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** What continues when the browser comes back. */
interface Continued {
  /** Path of the form on which the person chose the provider. */
  readonly action: string;
  /** Of this form. */
  readonly request: unknown;
}

/** The content of `state`. */
interface SealedState extends Continued, RedirectSecrets {
  /** When the browser was sent to the provider, in ms since the epoch. */
  readonly startedAt: number;
  /** Whether the person had to authenticate again. */
  readonly again: boolean;
}

/** Followed by the name of the provider. */
export const CALLBACK_PATH = '/oauth/callback/';
/** Time for the sign-in at the provider, in ms. */
const SIGN_IN_MS = 15 * 60_000;
/** Difference between the clocks of the provider and of this server, in ms. */
const CLOCK_MS = 60_000;
const TOO_LATE = 'The sign-in took too long. Please sign in again.';

export class ProviderRedirects {
  readonly #options: ProviderRedirectsOptions;

  constructor(options: ProviderRedirectsOptions) {
    this.#options = options;
  }

  /** The providers that a person can choose. */
  get choices(): readonly ProviderChoice[] {
    return this.#options.redirects.choices;
  }

  /** Sends the browser to the provider. Returns the reason, for the person, if the provider does not work. */
  async begin(
    context: RequestContext,
    provider: string,
    { action, request }: Continued,
    options: { readonly loginHint?: string | undefined; readonly again: boolean },
  ): Promise<string | undefined> {
    const { redirects, redirectSeal, now } = this.#options;
    const browser = browserOf(context.request);
    const again = options.again || mustSignInAgain(context.request, provider);
    const target = await redirects.begin(provider, {
      ...options,
      again,
      redirectURI: this.#redirectURI(provider),
      stateWith: (secrets) =>
        redirectSeal.seal(
          JSON.stringify({ ...secrets, action, request, startedAt: now(), again } satisfies SealedState),
          ownerOf(provider, browser.id),
        ),
    });
    if ('refusal' in target) return target.refusal;
    context.response.appendHeader('Set-Cookie', browser.cookie);
    redirect(context.response, target.href);
    return undefined;
  }

  /** The request of a browser that comes back. Undefined for the state of another provider or browser. */
  async returning(context: RequestContext, provider: string): Promise<ReturningBrowser | undefined> {
    const { redirects, redirectSeal, now } = this.#options;
    const parameters = new URL(context.request.url ?? '', 'https://localhost').searchParams;
    const state = parameters.get('state') ?? '';
    const text = await redirectSeal.open(state, ownerOf(provider, browserIDIn(context.request) ?? ''));
    if (text === undefined) return undefined;
    // Only `begin` can have sealed it.
    const secrets = JSON.parse(text) as SealedState;
    const callback = new URL(this.#redirectURI(provider));
    callback.search = parameters.toString();
    const { action, request, startedAt, again } = secrets;
    const isLate = now() >= startedAt + SIGN_IN_MS;
    const response = { callback, state, secrets, notBefore: again ? startedAt - CLOCK_MS : 0 };
    return {
      provider,
      action,
      request,
      finish: async (attempt) => {
        if (isLate) return { refusal: TOO_LATE };
        const verdict = await redirects.finish(provider, response, attempt);
        if (again && !('refusal' in verdict)) hasSignedInAgain(context, provider);
        return verdict;
      },
      link: async (attempt, user) =>
        isLate ? { refusal: TOO_LATE } : redirects.link(provider, response, attempt, user),
    };
  }

  #redirectURI(provider: string): string {
    return new URL(CALLBACK_PATH + provider, this.#options.issuer()).href;
  }
}

/** The state is valid for one provider and browser. */
function ownerOf(provider: string, browser: string): string {
  return JSON.stringify([provider, browser]);
}

/** A browser that comes back from a provider. */
export interface ReturningBrowser extends Continued {
  readonly provider: string;
  /** Signs the person in. */
  finish(attempt: FormAttempt): Promise<RedirectVerdict>;
  /** Links the person to a user who is signed in. */
  link(attempt: FormAttempt, user: UserID): Promise<LinkVerdict>;
}
