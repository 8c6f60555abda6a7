// The identities of the user of the account page: links the person that a provider authenticates, and unlinks. The state of a link
// names the browser session and its user, and both must be there when the browser comes back.
import { networkCaller } from '../../../admission/network.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { SourceAddress } from '../../../request/source-address.ts';
import type { AccountLinks, LinkedIdentity } from '../../providers/account-links.ts';
import type { SessionStore } from '../../sessions/session.ts';
import { terminateSession } from '../revoke.ts';
import { holderOf } from './account-visit.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import { ProviderRedirects, type ProviderRedirectsOptions } from './provider-redirects.ts';
import type { LinkVerdict, ProviderChoice } from './redirect-sign-in.ts';
import { originOf } from './sign-in.ts';

export interface AccountIdentitiesOptions extends ProviderRedirectsOptions {
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
export interface LinkReturn {
  readonly user: string;
  /** Undefined if the user is not signed in any more. */
  readonly by: BrowserSession | undefined;
  readonly verdict: LinkVerdict;
}

export type Unlinking = 'unlinked' | 'signed out' | 'last way to sign in';

const SIGNED_OUT = { refusal: 'You were signed out in the meantime, so the account is not linked.' };

export class AccountIdentities {
  readonly #options: AccountIdentitiesOptions;
  readonly #redirects: ProviderRedirects<LinkRequest>;

  constructor(options: AccountIdentitiesOptions) {
    this.#options = options;
    this.#redirects = new ProviderRedirects(options);
  }

  /** The providers at whose pages a person can be linked. */
  get choices(): readonly ProviderChoice[] {
    return this.#redirects.choices;
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
    const request = { session: session.id, user: account.name, userUID: account.uid };
    return this.#redirects.begin(context, provider, request, { again: true });
  }

  /** Links the person of a browser that comes back. Undefined if no link began in this browser. */
  async returned(context: RequestContext, provider: string): Promise<LinkReturn | undefined> {
    const { browsers, sourceOf } = this.#options;
    const returning = await this.#redirects.returning(context, provider);
    if (!returning) return undefined;
    const { session, user, userUID } = returning.request;
    const holder = await holderOf(session, browsers, context);
    const by = holder?.account.uid === userUID ? holder : undefined;
    if (!by) return { user, by, verdict: SIGNED_OUT };
    const origin = originOf(context.request, sourceOf);
    const attempt = {
      ...origin,
      client: '',
      requestID: context.auditID,
      caller: networkCaller(origin.source),
      signal: context.signal,
    };
    const verdict = await returning.link(attempt, by.account);
    if ('linked' in verdict) context.log.info({ user, provider }, 'identity linked on the account page');
    return { user, by, verdict };
  }

  /** Deletes the Identity, and ends the sessions that began with it. Throws 503 unless all of this is done. */
  async unlink(context: RequestContext, by: BrowserSession, identity: string): Promise<Unlinking> {
    const { links, browsers, sessions } = this.#options;
    const { account, session: current } = by;
    const { log, signal } = context;
    const outcome = await links.unlink(identity, account, signal);
    if (outcome !== 'unlinked') return outcome;
    log.info({ user: account.name, identity }, 'identity unlinked on the account page');
    const began = sessions.ofUser(account.name).filter(({ userUID, authentication }) => {
      const proof = authentication?.proof;
      return userUID === account.uid && proof?.kind === 'identity' && proof.name === identity;
    });
    await Promise.all(
      began.map(({ id: session, clientID, user }) =>
        terminateSession({ session, clientID, user }, 'identity unlinked', { sessions, log }, signal),
      ),
    );
    if (began.every(({ id }) => id !== current.id)) return 'unlinked';
    await browsers.end(context, [current]);
    return 'signed out';
  }
}
