// The form that asks for user name and password, and the one that makes people replace a password set by somebody else.
// What the person signs in for is up to the continuation; passwords/ checks passwords, throttle/ slows down attempts.
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { OAuthClient } from '../../clients/oauth-client.ts';
import { type Form, readForm } from '../../http/form.ts';
import type { SourceAddress } from '../../http/source-address.ts';
import type { Alert } from '../../page/alert.ts';
import { browserOf, comesFromElsewhere, knownBrowser } from '../../page/browser-binding.ts';
import { FormTickets, type OpenedTicket, type TicketOptions } from '../../page/form-ticket.ts';
import type { Markup } from '../../page/html.ts';
import { newPasswordPage } from '../../page/new-password-page.ts';
import { type PageOptions, writePage } from '../../page/page.ts';
import { signInPage } from '../../page/sign-in-page.ts';
import type { CheckedUser, PasswordSignIn } from '../../passwords/sign-in.ts';
import type { PasswordID, UserID } from '../../users/account.ts';
import { forBrowsers, PageFault } from './browser-handler.ts';
import type { ForcedPasswordChange } from './forced-password-change.ts';
import { AGAIN, CHANGED, refusal, WRONG } from './sign-in-alerts.ts';

/** What somebody signs in for. */
export interface Continuation<T> {
  /** What the page says about it. Throws when it cannot go on any more. */
  describe(request: T): {
    readonly client: OAuthClient;
    readonly scopes: readonly string[];
    /** Where the browser goes afterwards, for people; undefined when it stays. */
    readonly destination: string | undefined;
    /** What the person should look at first. */
    readonly notice?: Markup;
  };
  granted(context: RequestContext, request: T, by: SignedIn): Promise<void>;
  cancelled(context: RequestContext, request: T): Promise<void> | void;
}

export interface SignedIn {
  readonly account: UserID;
  /** The one that was checked. */
  readonly credential: PasswordID;
  readonly source: string;
  readonly userAgent: string;
}

export interface SignInFormsOptions<T> extends TicketOptions {
  /** Path of its handler. */
  readonly action: string;
  readonly issuer: () => string;
  readonly passwords: Pick<PasswordSignIn, 'check'>;
  readonly passwordChange: Pick<ForcedPasswordChange, 'change'>;
  readonly sourceOf: SourceAddress;
  readonly continuation: Continuation<T>;
}

interface ChangeTicket<T> {
  readonly request: T;
  readonly account: UserID;
  /** The one that was checked. */
  readonly proven: PasswordID;
}

interface Shown {
  readonly user?: string;
  readonly alert?: Alert;
}

// The time for which people leave a page open; thinking of a new password takes less.
const SIGN_IN_MS = 30 * 60_000;
const CHANGE_MS = 10 * 60_000;

export class SignInForms<T> {
  readonly handler: Handler;
  readonly #options: SignInFormsOptions<T>;
  readonly #tickets: FormTickets<T>;
  readonly #changes: FormTickets<ChangeTicket<T>>;

  constructor(options: SignInFormsOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`sign-in ${options.action}`, SIGN_IN_MS, options);
    this.#changes = new FormTickets(`new password ${options.action}`, CHANGE_MS, options);
    this.handler = forBrowsers(['POST'], options.issuer, (context) => this.#handle(context));
  }

  /** The form for `request`. */
  show(
    context: RequestContext,
    request: T,
    { user = '', alert }: Shown = {},
    options: PageOptions = {},
  ): void {
    const { client, scopes, destination, notice } = this.#options.continuation.describe(request);
    const browser = browserOf(context.request);
    const ticket = this.#tickets.seal(request, browser.id);
    const { action } = this.#options;
    writePage(
      context.response,
      signInPage({ action, ticket, client: client.displayName, destination, scopes, notice, user, alert }),
      {
        ...options,
        leadsOn: destination !== undefined,
        headers: { ...options.headers, 'Set-Cookie': browser.cookie },
      },
    );
  }

  async #handle(context: RequestContext): Promise<void> {
    if (comesFromElsewhere(context.request)) throw forged();
    const form = await readForm(context.request);
    const browser = knownBrowser(context.request) ?? '';
    const ticket = form.get('ticket') ?? '';
    const signIn = this.#tickets.open(ticket, browser);
    if (signIn) return this.#signIn(context, signIn, form);
    const change = this.#changes.open(ticket, browser);
    if (change) return this.#newPassword(context, change, form);
    throw forged();
  }

  async #signIn(context: RequestContext, ticket: OpenedTicket<T>, form: Form): Promise<void> {
    const { content: request, fault } = ticket;
    const { continuation } = this.#options;
    if (form.get('decision') === 'cancel') return continuation.cancelled(context, request);
    const user = form.get('username') ?? '';
    const password = form.get('password') ?? '';
    const again = (alert: Alert): void => this.show(context, request, { user, alert }, { status: 400 });
    if (fault !== undefined) return again(AGAIN[fault]);
    if (user === '') return again({ text: 'Enter your user name.', field: 'username' });
    if (password === '') return again({ text: 'Enter your password.', field: 'password' });
    return this.#enter(context, request, { user, password });
  }

  /** With a password that was typed; `wrong` is said of one that is not accepted. */
  async #enter(
    context: RequestContext,
    request: T,
    { user, password }: { readonly user: string; readonly password: string },
    wrong = WRONG,
  ): Promise<void> {
    const { continuation, passwords } = this.#options;
    const { client } = continuation.describe(request);
    const origin = this.#origin(context);
    let checked: CheckedUser;
    try {
      checked = await passwords.check({
        user,
        password,
        ...origin,
        client: client.id,
        method: 'page',
        requestID: context.auditID,
        acceptMustChange: true,
        signal: context.signal,
      });
    } catch (error) {
      const refused = refusal(error, wrong);
      if (!refused) throw error;
      const { alert, options } = refused;
      return this.show(context, request, { user, alert }, { status: 400, ...options });
    }
    const { account, credential } = checked;
    if (credential.mustChange) {
      // No more than is needed: the form that it goes into can be read.
      const { name, uid } = account;
      const proven = { uid: credential.uid, changedAt: credential.changedAt };
      this.#askNewPassword(context, { request, account: { name, uid }, proven });
      return;
    }
    await continuation.granted(context, request, { account, credential, ...origin });
  }

  async #newPassword(
    context: RequestContext,
    { content: ticket, fault }: OpenedTicket<ChangeTicket<T>>,
    form: Form,
  ): Promise<void> {
    const { continuation, passwordChange } = this.#options;
    const { request, account, proven } = ticket;
    if (fault !== undefined) {
      return this.show(context, request, { user: account.name, alert: AGAIN[fault] }, { status: 400 });
    }
    const password = form.get('new_password') ?? '';
    const again = (alert: Alert): void => this.#askNewPassword(context, ticket, alert);
    if (password !== (form.get('repeated') ?? '')) {
      return again({ text: 'The two passwords are not the same.', field: 'repeated' });
    }
    const outcome = await passwordChange.change(account, password, proven, context.signal);
    if (outcome === 'changed meanwhile') {
      // By a form that was sent twice, for instance: then the new password is the one that was typed.
      return this.#enter(context, request, { user: account.name, password }, CHANGED);
    }
    if ('fault' in outcome) return again({ text: outcome.fault, field: 'new_password' });
    context.log.info({ user: account.name }, 'a password that somebody else had set was replaced');
    await continuation.granted(context, request, {
      account,
      credential: outcome.credential,
      ...this.#origin(context),
    });
  }

  #askNewPassword(context: RequestContext, ticket: ChangeTicket<T>, alert?: Alert): void {
    const { action, continuation } = this.#options;
    const { destination } = continuation.describe(ticket.request);
    const browser = browserOf(context.request);
    const page = newPasswordPage({
      action,
      ticket: this.#changes.seal(ticket, browser.id),
      user: ticket.account.name,
      alert,
    });
    writePage(context.response, page, { status: alert ? 400 : 200, leadsOn: destination !== undefined });
  }

  #origin({ request }: RequestContext): Pick<SignedIn, 'source' | 'userAgent'> {
    return { source: this.#options.sourceOf(request), userAgent: request.headers['user-agent'] ?? '' };
  }
}

function forged(): PageFault {
  return new PageFault(
    403,
    'Start again',
    'This form was not filled in on a page of this server. Go back to the program that sent you here and sign in again.',
  );
}
