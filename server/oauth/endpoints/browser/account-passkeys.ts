// The passkeys of the user of the account page: adds and removes them. The ticket of the page that adds one names the browser session
// and its user, and both must still be signed in.
import { MAX_PASSKEYS } from '../../../../apis/iam/v1beta1/authenticators-resource.ts';
import { NewPasskeyFormSchema } from '../../../../apis/oauth/forms.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { SourceAddress } from '../../../request/source-address.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import type { PasskeySignIn } from '../../factors/passkey-sign-in.ts';
import { creationOptions, passkeyMethods } from '../../factors/passkeys.ts';
import { readForm } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { browserIDIn, browserOf, FormTickets, isCrossSite } from '../../page/form-tickets.ts';
import { redirect, writePage } from '../../page/page.ts';
import { passkeyScript } from '../../page/passkey-form.ts';
import { type ListedPasskey, newPasskeyPage } from '../../page/passkey-pages.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import type { AccountLinks } from '../../providers/account-links.ts';
import { MULTIPLE_FACTORS, withMethods } from '../../sessions/proof.ts';
import type { SessionStore } from '../../sessions/session.ts';
import type { CredentialDirectory } from '../../users/account.ts';
import { endSessionsOf } from './account-sessions.ts';
import { accountURL, holderOf } from './account-visit.ts';
import { type BrowserHandlerOptions, browserHandler } from './browser-handler.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import { originOf } from './form-attempt.ts';
import { forged } from './form-rejections.ts';
import { type CreatedPasskey, deviceName, verifiedPasskey } from './new-passkey.ts';

export interface AccountPasskeysOptions extends TicketOptions, BrowserHandlerOptions {
  /** Path of the handler of the page that adds a passkey. */
  readonly action: string;
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
  readonly passkeys: Pick<PasskeySignIn, 'relyingParty'>;
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'update'>;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  readonly links: Pick<AccountLinks, 'of'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'use' | 'begin' | 'end'>;
  readonly factorPolicy: Pick<FactorPolicy, 'isRequired' | 'lacksFactor'>;
  readonly sourceOf: SourceAddress;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
}

/** The browser session that received the page. */
interface NewPasskeyTicket {
  readonly session: string;
  readonly user: string;
}

export type PasskeyRemoval =
  | 'passkey-removed'
  | 'signed out'
  /** The reason, for the user. */
  | { readonly refusal: string };

const NEW_PASSKEY_MS = 10 * 60_000;
const NEW_PASSKEY_FORM = new FormDecoder(NewPasskeyFormSchema);
const NO_HOST_NAME =
  'This server has no passkeys: they need a host name, and the address of this server is an IP address.';
const TOO_MANY = `You have ${MAX_PASSKEYS} passkeys. Remove one before you add another.`;
const LAST_WAY = { refusal: 'You could not sign in without this passkey. Add another one first.' };
const LAST_FACTOR = { refusal: 'Your account needs a second factor. Add another one first.' };

export class AccountPasskeys {
  /** The form of the page that adds a passkey. */
  readonly handler: Handler;
  readonly #options: AccountPasskeysOptions;
  readonly #tickets: FormTickets<NewPasskeyTicket>;

  constructor(options: AccountPasskeysOptions) {
    this.#options = options;
    this.#tickets = new FormTickets('new passkey', NEW_PASSKEY_MS, options);
    this.handler = browserHandler(options, (context) => this.#handle(context));
  }

  list({ account }: BrowserSession): readonly ListedPasskey[] {
    return this.#options.authenticators.of(account).passkeys.map(({ id, name, backedUp, ...times }) => ({
      id,
      name,
      backedUp,
      addedAt: Date.parse(times.addedTime),
      lastUsedAt: times.lastUsedTime === undefined ? undefined : Date.parse(times.lastUsedTime),
    }));
  }

  /** Why the user cannot add a passkey. */
  problem({ account }: BrowserSession): string | undefined {
    const { passkeys, authenticators } = this.#options;
    if (!passkeys.relyingParty) return NO_HOST_NAME;
    return authenticators.of(account).passkeys.length >= MAX_PASSKEYS ? TOO_MANY : undefined;
  }

  /** Shows the page that adds a passkey. */
  showNew(
    context: RequestContext,
    by: BrowserSession,
    { name = deviceName(context), alert }: { name?: string; alert?: Alert } = {},
  ): void {
    const { passkeys, authenticators, action, texts } = this.#options;
    const { account, session } = by;
    const { relyingParty } = passkeys;
    if (!relyingParty) return redirect(context.response, accountURL(account.name));
    const browser = browserOf(context.request);
    const ticket = this.#tickets.seal({ session: session.id, user: account.name }, browser.id);
    const existing = authenticators.of(account).passkeys;
    const options = creationOptions({ relyingParty, ticket }, account, existing);
    const { platformName } = texts;
    const page = newPasskeyPage({ platformName, action, ticket, options, name, alert });
    writePage(context.response, page, {
      status: alert ? 400 : 200,
      ...passkeyScript().options,
      headers: { 'Set-Cookie': browser.cookie },
    });
  }

  async #handle(context: RequestContext): Promise<void> {
    if (isCrossSite(context.request)) throw forged();
    const form = await readForm(context.request);
    const ticket = form.get('ticket') ?? '';
    const opened = this.#tickets.open(ticket, browserIDIn(context.request) ?? '');
    if (!opened) throw forged();
    const { content, rejection } = opened;
    const by = await holderOf(content.session, this.#options.browsers, context);
    const { decision, passkey, name = '' } = NEW_PASSKEY_FORM.decode(form);
    // The time of the sign-in was checked for the page, which is valid for a few minutes.
    if (!by || decision === 'cancel' || rejection !== undefined) {
      return redirect(context.response, accountURL(content.user));
    }
    const alert = await this.#add(context, by, { name, text: passkey ?? '', ticket });
    if (alert) return this.showNew(context, by, { name, alert });
    redirect(context.response, accountURL(by.account.name, 'passkey'));
  }

  /** Returns an alert for the user if the passkey is not added. */
  async #add(
    context: RequestContext,
    { account, authentication }: BrowserSession,
    { ticket, ...created }: CreatedPasskey & { readonly ticket: string },
  ): Promise<Alert | undefined> {
    const { passkeys, authenticators, browsers, factorPolicy, sourceOf, now } = this.#options;
    const { log, signal } = context;
    const { relyingParty } = passkeys;
    if (!relyingParty) return { text: NO_HOST_NAME };
    const passkey = await verifiedPasskey(context, account, { relyingParty, ticket }, created);
    if ('text' in passkey) return passkey;
    const added = { ...passkey, addedTime: new Date(now()).toISOString() };
    const changed = await authenticators.update(
      account,
      (current) => {
        const isKnown = current.passkeys.some(({ id }) => id === added.id);
        if (isKnown || current.passkeys.length >= MAX_PASSKEYS) return undefined;
        // The user has added a factor meanwhile, or the factors were reset, so this session is not enough any more.
        if (factorPolicy.lacksFactor(account, authentication, current)) return undefined;
        return { ...current, passkeys: [...current.passkeys, added] };
      },
      signal,
    );
    if (!changed) return { text: 'You have this passkey already, or too many others.' };
    log.info({ user: account.name, passkey: added.id }, 'passkey added on the account page');
    if (authentication.amr.includes(MULTIPLE_FACTORS)) return undefined;
    // The user has just used the passkey, and from now on needs a second factor.
    const proven = withMethods(authentication, passkeyMethods(added));
    const origin = originOf(context.request, sourceOf);
    await browsers.begin(context, { account, authentication: proven, ...origin });
    return undefined;
  }

  /** Removes a passkey, and ends the sessions that began with it. Throws 503 unless all of this is done. */
  async remove(context: RequestContext, by: BrowserSession, passkey: string): Promise<PasskeyRemoval> {
    const { authenticators, credentials, links, factorPolicy } = this.#options;
    const { account } = by;
    const { log, signal } = context;
    const hasPassword = credentials.get(account.name)?.userUID === account.uid;
    const hasOtherWay = hasPassword || links.of(account).length > 0;
    const isRequired = factorPolicy.isRequired(account, by.authentication.proof);
    let rejected: PasskeyRemoval | undefined;
    await authenticators.update(
      account,
      (factors) => {
        const kept = factors.passkeys.filter(({ id }) => id !== passkey);
        const isLast = kept.length === 0 && factors.passkeys.length > 0;
        const isLastFactor = isLast && factors.totp === undefined;
        rejected = undefined;
        // The factors of another replica may be newer than the session.
        if (factorPolicy.lacksFactor(account, by.authentication, factors)) return undefined;
        if (isLast && !hasOtherWay) rejected = LAST_WAY;
        else if (isLastFactor && isRequired) rejected = LAST_FACTOR;
        if (rejected !== undefined || kept.length === factors.passkeys.length) return undefined;
        // Recovery codes replace a factor, so none is needed without one.
        return { ...factors, passkeys: kept, ...(isLastFactor ? { recoveryCodes: [] } : {}) };
      },
      signal,
    );
    if (rejected !== undefined) return rejected;
    log.info({ user: account.name, passkey }, 'passkey removed on the account page');
    const isSignedOut = await endSessionsOf(context, by, 'passkey removed', this.#options, (proof) => {
      return proof.kind === 'passkey' && proof.id === passkey;
    });
    return isSignedOut ? 'signed out' : 'passkey-removed';
  }
}
