// The identities of the user of the account page: links the person that a provider authenticates, and unlinks. The state of a link
// names the browser session and its user, and both must be there when the browser comes back.
import type { RequestContext } from '../../../request/request-context.ts';
import type { SourceAddress } from '../../../request/source-address.ts';
import type { AccountLinks, LinkedIdentity } from '../../providers/account-links.ts';
import type { ProviderChoice } from '../../providers/configured-provider.ts';
import type { SessionStore } from '../../sessions/session.ts';
import { endSessionsOf, type WayChange } from './account-sessions.ts';
import { holderOf } from './account-visit.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import type { ProviderRedirects, ReturningBrowser } from './provider-redirects.ts';
import type { LinkVerdict } from './redirect-sign-in.ts';
import { formAttempt } from './sign-in.ts';

export interface AccountIdentitiesOptions {
  /** Path of the form on which the user chooses a provider. */
  readonly action: string;
  readonly redirects: Pick<ProviderRedirects, 'choices' | 'begin'>;
  readonly links: Pick<AccountLinks, 'of' | 'providerOf' | 'unlink'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'use' | 'end'>;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly sourceOf: SourceAddress;
}

/** The browser session for which a link began. */
interface LinkRequest {
  readonly session: string;
  readonly user: string;
  readonly userUID: string;
}

/** A browser that comes back from a provider. */
interface LinkReturn {
  readonly user: string;
  /** Undefined if the user is not signed in any more. */
  readonly by: BrowserSession | undefined;
  readonly verdict: LinkVerdict;
}

const LAST_WAY = { refusal: 'You could not sign in without this account. Link another one first.' };
const SIGNED_OUT = { refusal: 'You were signed out in the meantime, so the account is not linked.' };

export class AccountIdentities {
  readonly #options: AccountIdentitiesOptions;

  constructor(options: AccountIdentitiesOptions) {
    this.#options = options;
  }

  /** The providers at whose pages a person can be linked. */
  get choices(): readonly ProviderChoice[] {
    return this.#options.redirects.choices;
  }

  list({ account }: BrowserSession): readonly LinkedIdentity[] {
    return this.#options.links.of(account);
  }

  /** Display name of the provider that has authenticated the user; undefined for a local password. */
  providerOf({ authentication: { proof } }: BrowserSession): string | undefined {
    return proof.kind === 'identity' ? this.#options.links.providerOf(proof.name) : undefined;
  }

  /** Sends the browser to the provider. Returns the reason, for the person, if the provider does not work. */
  begin(
    context: RequestContext,
    { session, account }: BrowserSession,
    provider: string,
  ): Promise<string | undefined> {
    const { redirects, action } = this.#options;
    const request: LinkRequest = { session: session.id, user: account.name, userUID: account.uid };
    return redirects.begin(context, provider, { action, request }, { again: true });
  }

  /** Links the person of a browser that comes back. */
  async returned(context: RequestContext, returning: ReturningBrowser): Promise<LinkReturn> {
    const { browsers, sourceOf } = this.#options;
    const { provider } = returning;
    // Only `begin` has this action.
    const { session, user, userUID } = returning.request as LinkRequest;
    const holder = await holderOf(session, browsers, context);
    const by = holder?.account.uid === userUID ? holder : undefined;
    if (!by) return { user, by, verdict: SIGNED_OUT };
    const verdict = await returning.link(formAttempt(context, sourceOf), by.account);
    if ('linked' in verdict) context.log.info({ user, provider }, 'identity linked on the account page');
    return { user, by, verdict };
  }

  /** Deletes the Identity, and ends the sessions that began with it. Throws 503 unless all of this is done. */
  async unlink(context: RequestContext, by: BrowserSession, identity: string): Promise<WayChange> {
    const { account } = by;
    const { log, signal } = context;
    const outcome = await this.#options.links.unlink(identity, account, signal);
    if (outcome === 'last way to sign in') return LAST_WAY;
    log.info({ user: account.name, identity }, 'identity unlinked on the account page');
    return endSessionsOf(context, by, 'identity unlinked', this.#options, (proof) => {
      return proof.kind === 'identity' && proof.name === identity;
    });
  }
}
