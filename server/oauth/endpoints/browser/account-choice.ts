// Page on which a user who is signed in continues to a client, chooses one of several accounts, or signs in with another
// one. The page asks where the client must not get tokens without a confirmation.
import { AccountFormSchema } from '../../../../apis/oauth/forms.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { originOf, type SourceAddress } from '../../../request/source-address.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import { accountChoicePage } from '../../page/account-choice-page.ts';
import { FormTickets } from '../../page/form-tickets.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import { type BrowserHandlerOptions, browserHandler, forged, readOwnForm } from './browser-handler.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import type { Continuation } from './continuation.ts';
import { TICKET_ALERTS } from './form-rejections.ts';
import type { SignInForms } from './sign-in.ts';

interface AccountChoiceOptions<T> extends TicketOptions, BrowserHandlerOptions {
  /** Path of the form's handler. */
  readonly action: string;
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'use'>;
  readonly sourceOf: SourceAddress;
  readonly continuation: Continuation<T>;
  /** For another account. */
  readonly forms: Pick<SignInForms<T>, 'show'>;
}

const ACCOUNT_FORM = new FormDecoder(AccountFormSchema);
/** Validity of the form. */
const CHOICE_MS = 30 * 60_000;

export class AccountChoice<T> {
  readonly handler: Handler;
  readonly #options: AccountChoiceOptions<T>;
  readonly #tickets: FormTickets<T>;

  constructor(options: AccountChoiceOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`account ${options.action}`, CHOICE_MS, options);
    this.handler = browserHandler(options, (context) => this.#handle(context));
  }

  show(context: RequestContext, continued: T, among: readonly BrowserSession[]): void {
    const { action, texts, continuation } = this.#options;
    const { client, scopes, destination, notice } = continuation.describe(continued);
    const accounts = among.map(({ account }) => account);
    const view = { ...texts, action, client: client?.displayName, scopes, destination, notice, accounts };
    const options = { redirectsToClient: destination !== undefined };
    this.#tickets.show(context, continued, (ticket) => accountChoicePage({ ...view, ticket }), options);
  }

  accepts(request: T, by: BrowserSession): boolean {
    return this.#options.continuation.accepts(request, by);
  }

  /** Continues as a user who is signed in, without a page. False if the identity provider does not confirm the user. */
  async continueAs(context: RequestContext, request: T, user: BrowserSession): Promise<boolean> {
    const { browsers, continuation, sourceOf } = this.#options;
    const by = await browsers.use(user, context);
    if (!by) return false;
    const { account, authentication, session } = by;
    const { client } = continuation.describe(request);
    context.log.info(
      { user: account.name, client: client?.id, browser: session.id },
      'signed on by a browser session',
    );
    const origin = originOf(context.request, sourceOf);
    await continuation.granted(context, request, { account, authentication, browser: session, ...origin });
    return true;
  }

  async #handle(context: RequestContext): Promise<void> {
    const form = await readOwnForm(context);
    const submitted = this.#tickets.submitted(context, form);
    if (!submitted) throw forged();
    const { content: request, rejection } = submitted;
    const { decision, account } = ACCOUNT_FORM.decode(form);
    if (decision === 'cancel') return this.#options.continuation.cancelled(context, request);
    if (rejection !== undefined)
      return this.#options.forms.show(context, request, { alert: TICKET_ALERTS[rejection] });
    return this.#choose(context, request, account);
  }

  /** The user signs in for an account that is signed out meanwhile, or whose authentication is too old. */
  async #choose(context: RequestContext, request: T, user = ''): Promise<void> {
    const { browsers, continuation, forms } = this.#options;
    const signedIn = user === '' ? [] : await browsers.of(context);
    const chosen = signedIn.find(({ account }) => account.name === user);
    const isAccepted = chosen && continuation.accepts(request, chosen);
    if (isAccepted && (await this.continueAs(context, request, chosen))) return;
    forms.show(context, request, { user });
  }
}
