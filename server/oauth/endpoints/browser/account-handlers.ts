// Handlers of the account page: what users see and change about their own account. Every action is for the user of the
// browser session that received the page.
import {
  AccountPageSchema,
  EndSessionsFormSchema,
  IdentitiesFormSchema,
  PasskeysFormSchema,
  SecondFactorFormSchema,
} from '../../../../apis/oauth/forms.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions, TicketRejection } from '../../keys/tickets.ts';
import { accountPage, signedOutPage } from '../../page/account-page.ts';
import { ACCOUNT_PATH } from '../../page/account-sections.ts';
import type { Alert } from '../../page/form-fields.ts';
import { FormTickets, isCrossSite } from '../../page/form-tickets.ts';
import { type PageOptions, redirect, writePage } from '../../page/page.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import { MULTIPLE_FACTORS } from '../../sessions/proof.ts';
import type { CredentialDirectory } from '../../users/account.ts';
import type { AccountChoice } from './account-choice.ts';
import type { AccountFactors } from './account-factors.ts';
import type { AccountIdentities } from './account-identities.ts';
import type { AccountPassword } from './account-password.ts';
import type { AccountSessions, WayChange } from './account-sessions.ts';
import { type AccountVisit, accountURL, holderOf, NOTICES, STEP_UP } from './account-visit.ts';
import { type BrowserHandlerOptions, browserHandler, forged, readOwnForm } from './browser-handler.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import type { DirectoryLinks } from './directory-links.ts';
import type { ReturningBrowser } from './provider-redirects.ts';
import type { LinkVerdict } from './redirect-sign-in.ts';
import type { SignInForms } from './sign-in.ts';
import type { UpstreamSignOut } from './upstream-sign-out.ts';

export interface AccountHandlersOptions extends TicketOptions, BrowserHandlerOptions {
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'use'>;
  readonly forms: Pick<SignInForms<AccountVisit>, 'show'>;
  readonly choice: Pick<AccountChoice<AccountVisit>, 'show'>;
  readonly accountSessions: AccountSessions;
  readonly accountIdentities: AccountIdentities;
  readonly directoryLinks: DirectoryLinks;
  readonly accountPassword: AccountPassword;
  readonly accountFactors: Pick<
    AccountFactors,
    'list' | 'add' | 'addPasskey' | 'renamePasskey' | 'renewCodes' | 'removeApp' | 'removePasskey'
  >;
  readonly upstreamSignOut: Pick<UpstreamSignOut, 'begin'>;
  readonly factorPolicy: Pick<FactorPolicy, 'hasFactor'>;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  /** The kubeconfig of all users; undefined if kubectl cannot reach the cluster through this server. */
  readonly kubeconfig: (() => string) | undefined;
}

/** The browser session that received the page. */
interface AccountTicket {
  readonly session: string;
  readonly user: string;
}

type FormAction = (context: RequestContext, by: BrowserSession, form: Form) => Promise<void>;

const PAGE_MS = 30 * 60_000;
/** Maximum time since the user was authenticated for changes of the ways to sign in. */
const STEP_UP_MS = 10 * 60_000;
const PAGE = new FormDecoder(AccountPageSchema);
const IDENTITIES_FORM = new FormDecoder(IdentitiesFormSchema);
const SECOND_FACTOR_FORM = new FormDecoder(SecondFactorFormSchema);
const PASSKEYS_FORM = new FormDecoder(PasskeysFormSchema);
const SESSIONS_FORM = new FormDecoder(EndSessionsFormSchema);

const ALERTS: Readonly<Record<TicketRejection, string>> = {
  expired: 'This page was open for too long. Please try again.',
  'other holder': 'Please try once more. If this message appears again, allow cookies for this page.',
};

export class AccountHandlers {
  readonly page: Handler;
  /** The page on which users choose an account, or sign in with another one. */
  readonly switch: Handler;
  readonly password: Handler;
  readonly sessions: Handler;
  readonly identities: Handler;
  readonly passkeys: Handler;
  readonly secondFactor: Handler;
  readonly #options: AccountHandlersOptions;
  readonly #tickets: FormTickets<AccountTicket>;

  constructor(options: AccountHandlersOptions) {
    this.#options = options;
    this.#tickets = new FormTickets('account', PAGE_MS, options);
    this.page = browserHandler(options, (context) => this.#page(context));
    this.switch = browserHandler(options, async (context) => {
      const signedIn = await options.browsers.of(context);
      if (signedIn.length === 0) return options.forms.show(context, ACCOUNT_PATH);
      return options.choice.show(context, ACCOUNT_PATH, signedIn);
    });
    const submitted = (act: FormAction): Handler =>
      browserHandler(options, (context) => this.#submitted(context, act));
    this.password = submitted(async (context, by, form) => {
      // The password alone is no step-up of a user with a second factor.
      const hasFactor =
        by.authentication.amr.includes(MULTIPLE_FACTORS) || options.factorPolicy.hasFactor(by.account);
      if (hasFactor && !this.#isRecent(context, by, 'password')) return;
      await options.accountPassword.change(context, by, form, (alert, page) =>
        this.#show(context, by, undefined, alert, page),
      );
    });
    this.sessions = submitted((...form) => this.#endSessions(...form));
    this.identities = submitted((...form) => this.#changeIdentities(...form));
    this.passkeys = submitted((...form) => this.#changePasskeys(...form));
    this.secondFactor = submitted((...form) => this.#changeSecondFactor(...form));
  }

  async #page(context: RequestContext): Promise<void> {
    const { browsers, forms } = this.#options;
    const { user, done } = await PAGE.read(context.request);
    const signedIn = await browsers.of(context);
    const found = user === undefined ? signedIn[0] : signedIn.find(({ account }) => account.name === user);
    const by = found && (await browsers.use(found, context));
    // A link of another site could show any notice.
    const notice = done === undefined || isCrossSite(context.request) ? undefined : NOTICES[done];
    // The removal of the last factor ends the session, which has used it.
    if (!by) return forms.show(context, ACCOUNT_PATH, { user: user ?? '', done: notice });
    this.#show(context, by, notice);
  }

  #show(
    context: RequestContext,
    by: BrowserSession,
    notice?: string,
    alert?: Alert,
    options: PageOptions = {},
  ): void {
    const {
      texts,
      credentials,
      accountSessions,
      accountIdentities,
      accountFactors,
      directoryLinks,
      kubeconfig,
      now,
    } = this.#options;
    const { account, session } = by;
    const { choices } = accountIdentities;
    const view = {
      ...texts,
      account,
      isLocal: by.authentication.proof.kind !== 'identity',
      provider: accountIdentities.providerOf(by),
      hasPassword: credentials.get(account.name)?.userUID === account.uid,
      sessions: accountSessions.list(by),
      factors: accountFactors.list(by),
      identities: accountIdentities.list(by),
      providers: [...directoryLinks.choices, ...choices],
      hasKubeconfig: kubeconfig !== undefined,
      notice,
      alert,
      now: now(),
    };
    const state = { session: session.id, user: account.name };
    // A form leads to a provider.
    const shown = { redirectsToClient: choices.length > 0, ...options };
    this.#tickets.show(context, state, (ticket) => accountPage({ ...view, ticket }), shown);
  }

  /** Passes a genuine form to `act`. Without its browser session, the page shows who is signed in now. */
  async #submitted(context: RequestContext, act: FormAction): Promise<void> {
    const form = await readOwnForm(context);
    const submitted = this.#tickets.submitted(context, form);
    if (!submitted) throw forged();
    const { content, rejection: invalid } = submitted;
    const by = await holderOf(content.session, this.#options.browsers, context);
    if (!by) return redirect(context.response, accountURL(content.user, 'nothing'));
    if (invalid !== undefined) return this.#show(context, by, undefined, { text: ALERTS[invalid] });
    return act(context, by, form);
  }

  async #endSessions(context: RequestContext, by: BrowserSession, form: Form): Promise<void> {
    const { accountSessions, upstreamSignOut } = this.#options;
    const { end, session = '' } = SESSIONS_FORM.decode(form);
    const { name } = by.account;
    if (end === 'others') {
      await accountSessions.endOthers(context, by);
      return redirect(context.response, accountURL(name, 'others'));
    }
    const ended = end === 'current' ? by.session.id : session;
    await accountSessions.end(context, by, ended);
    if (ended === by.session.id) {
      if (await upstreamSignOut.begin(context, [by.session], {})) return;
      return writePage(context.response, signedOutPage());
    }
    return redirect(context.response, accountURL(name, 'session'));
  }

  async #changeIdentities(context: RequestContext, by: BrowserSession, form: Form): Promise<void> {
    const { accountIdentities, directoryLinks } = this.#options;
    const { unlink, link } = IDENTITIES_FORM.decode(form);
    if (!this.#isRecent(context, by, 'linked accounts')) return;
    if (link !== undefined && directoryLinks.choices.some((directory) => directory.name === link)) {
      const verdict = await directoryLinks.submitted(context, by, form);
      return verdict && this.#showLink(context, by, verdict);
    }
    if (link !== undefined) {
      const problem = await accountIdentities.begin(context, by, link);
      return problem === undefined ? undefined : this.#show(context, by, undefined, { text: problem });
    }
    return this.#changed(context, by, await accountIdentities.unlink(context, by, unlink ?? ''), 'unlinked');
  }

  async #changePasskeys(context: RequestContext, by: BrowserSession, form: Form): Promise<void> {
    const { accountFactors } = this.#options;
    const { rename, name: typed = '', remove } = PASSKEYS_FORM.decode(form);
    if (!this.#isRecent(context, by, 'passkeys')) return;
    if (rename !== undefined) {
      const change = await accountFactors.renamePasskey(context, by, rename, typed);
      return this.#changed(context, by, change, 'passkey-renamed');
    }
    if (remove === undefined) return accountFactors.addPasskey(context, by);
    const change = await accountFactors.removePasskey(context, by, remove);
    return this.#changed(context, by, change, 'passkey-removed');
  }

  async #changeSecondFactor(context: RequestContext, by: BrowserSession, form: Form): Promise<void> {
    const { accountFactors } = this.#options;
    const { action } = SECOND_FACTOR_FORM.decode(form);
    if (!this.#isRecent(context, by, 'second factor')) return;
    if (action === 'codes') return accountFactors.renewCodes(context, by);
    if (action !== 'remove') return accountFactors.add(context, by);
    return this.#changed(context, by, await accountFactors.removeApp(context, by), 'app-removed');
  }

  #changed(context: RequestContext, by: BrowserSession, change: WayChange, done: keyof typeof NOTICES): void {
    if (change === 'signed out') writePage(context.response, signedOutPage());
    else if (change === 'done') redirect(context.response, accountURL(by.account.name, done));
    else this.#show(context, by, undefined, { text: change.refusal });
  }

  /**
   * Lets a user sign in again whose sign-in is too long ago for changes of `what`, or was without the second factor, as at an identity
   * provider.
   */
  #isRecent(context: RequestContext, { account, authentication }: BrowserSession, what: string): boolean {
    const { forms, now, factorPolicy } = this.#options;
    const isComplete = authentication.amr.includes(MULTIPLE_FACTORS) || !factorPolicy.hasFactor(account);
    if (isComplete && now() < authentication.authTime + STEP_UP_MS) return true;
    const alert = { text: `Sign in again to change your ${what}.` };
    forms.show(context, STEP_UP, { user: account.name, alert });
    return false;
  }

  /** Shows the result of a link. */
  async returned(context: RequestContext, returning: ReturningBrowser): Promise<void> {
    const { accountIdentities, forms } = this.#options;
    const { user, by, verdict } = await accountIdentities.returned(context, returning);
    // No redirect: the browser counts it as one of another site, and the notice would not be shown.
    if (by) this.#showLink(context, by, verdict);
    else {
      const alert = 'refusal' in verdict ? { alert: { text: verdict.refusal } } : {};
      forms.show(context, ACCOUNT_PATH, { user, ...alert }, { status: 400 });
    }
  }

  #showLink(context: RequestContext, by: BrowserSession, verdict: LinkVerdict): void {
    if ('linked' in verdict) this.#show(context, by, `Your account of ${verdict.linked} is linked.`);
    else this.#show(context, by, undefined, { text: verdict.refusal });
  }
}
