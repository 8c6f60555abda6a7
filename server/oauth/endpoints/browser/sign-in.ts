// Handles the sign-in form. passwords/ verifies passwords, throttle/ limits attempts, and new-password.ts handles the form for a forced
// password change.
import { SignInFormSchema } from '../../../../apis/oauth/forms.ts';
import { networkCaller } from '../../../admission/network.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { originOf, type SourceAddress } from '../../../request/source-address.ts';
import type { PasskeyResponse, PasskeySignIn } from '../../factors/passkey-sign-in.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import { type Alert, noticeBox } from '../../page/form-fields.ts';
import { FormTickets, type SubmittedForm } from '../../page/form-tickets.ts';
import type { PageOptions } from '../../page/page.ts';
import { signInPage } from '../../page/sign-in-pages.ts';
import type { OwnPasswordChange } from '../../passwords/own-password-change.ts';
import type { CheckedUser, PasswordSignIn } from '../../passwords/password-sign-in.ts';
import { NameMissing } from '../../passwords/sign-in-refusal.ts';
import { type BrowserHandlerOptions, browserHandler, forged, readOwnForm } from './browser-handler.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import type { Continuation, FormAttempt, Shown } from './continuation.ts';
import { PASSWORD_CHANGED, rejection, TICKET_ALERTS, WRONG_PASSWORD } from './form-rejections.ts';
import { NameForms, type NameFormsOptions } from './name-forms.ts';
import { NewPasswordForms } from './new-password.ts';
import type { ProviderRedirects, ReturningBrowser } from './provider-redirects.ts';
import {
  type PendingSignIn,
  pendingSignIn,
  SecondFactorStep,
  type SecondFactorStepOptions,
} from './second-factor-step.ts';

export interface SignInFormsOptions<T>
  extends BrowserHandlerOptions,
    Omit<SecondFactorStepOptions<T>, 'attempt' | 'startAgain' | 'complete' | 'continuation'>,
    Pick<NameFormsOptions<T>, 'names' | 'nameSeal'> {
  readonly passwords: Pick<PasswordSignIn, 'check' | 'notices'>;
  readonly passwordChange: Pick<OwnPasswordChange, 'change'>;
  readonly passkeys: Pick<
    PasskeySignIn,
    'relyingParty' | 'optionsFor' | 'signIn' | 'secondFactorOptions' | 'confirm'
  >;
  readonly browsers: Pick<BrowserSessions, 'begin'>;
  /** Sign-in at the pages of identity providers. */
  readonly redirects: Pick<ProviderRedirects, 'choices' | 'begin'>;
  readonly sourceOf: SourceAddress;
  readonly continuation: Continuation<T>;
}

const SIGN_IN_FORM = new FormDecoder(SignInFormSchema);
/** Validity of the form. */
const SIGN_IN_MS = 30 * 60_000;

export class SignInForms<T> {
  readonly handler: Handler;
  readonly #options: SignInFormsOptions<T>;
  readonly #tickets: FormTickets<T>;
  readonly #newPasswords: NewPasswordForms<T>;
  readonly #names: NameForms<T>;
  readonly #factors: SecondFactorStep<T>;

  constructor(options: SignInFormsOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`sign-in ${options.action}`, SIGN_IN_MS, options);
    const steps: Pick<NameFormsOptions<T>, 'startAgain' | 'next' | 'attempt'> = {
      startAgain: (context, request, shown) => this.show(context, request, shown),
      next: (context, pending) => this.#factors.next(context, pending),
      attempt: (context, request) => this.#attempt(context, request),
    };
    this.#newPasswords = new NewPasswordForms({
      ...options,
      ...steps,
      authenticate: (context, request, typed) =>
        this.#authenticate(context, request, typed, PASSWORD_CHANGED),
    });
    this.#factors = new SecondFactorStep({
      ...options,
      ...steps,
      complete: (context, pending) => this.#complete(context, pending),
    });
    this.#names = new NameForms({ ...options, ...steps });
    this.handler = browserHandler(options, (context) => this.#handle(context));
  }

  /** Writes the sign-in form for `request`. */
  show(
    context: RequestContext,
    request: T,
    { user = '', alert, done }: Shown = {},
    options: PageOptions = {},
  ): void {
    const { client, scopes, destination, notice } = this.#options.continuation.describe(request);
    const { action, texts, passwords, redirects, passkeys } = this.#options;
    const { choices } = redirects;
    const view = {
      ...texts,
      action,
      client: client?.displayName,
      destination,
      scopes,
      notice: noticeBox(done) ?? notice,
      user,
      alert,
      providers: choices,
      notices: [...passwords.notices, ...choices.flatMap(({ problem }) => problem?.notice ?? [])],
    };
    const page = (ticket: string) => signInPage({ ...view, ticket, passkey: passkeys.optionsFor(ticket) });
    // The form can lead to a provider, too.
    const redirectsToClient = destination !== undefined || choices.length > 0;
    this.#tickets.show(context, request, page, { ...options, redirectsToClient });
  }

  async #handle(context: RequestContext): Promise<void> {
    const form = await readOwnForm(context);
    const submitted = this.#tickets.submitted(context, form);
    if (submitted) return this.#signIn(context, submitted, form);
    if (await this.#factors.submitted(context, form)) return;
    if (await this.#newPasswords.submitted(context, form)) return;
    if (await this.#names.submitted(context, form)) return;
    throw forged();
  }

  /** Continues after a sign-in at a provider that began with this form. */
  async returned(context: RequestContext, returning: ReturningBrowser): Promise<void> {
    // Only this form begins requests with its action.
    const request = returning.request as T;
    const verdict = await returning.finish(this.#attempt(context, request));
    if ('refusal' in verdict) {
      this.show(context, request, { alert: { text: verdict.refusal } });
    } else if ('newPerson' in verdict) {
      await this.#names.show(context, request, verdict.newPerson);
    } else {
      await this.#factors.next(context, pendingSignIn(request, verdict));
    }
  }

  async #signIn(context: RequestContext, opened: SubmittedForm<T>, form: Form): Promise<void> {
    const { content: request, rejection } = opened;
    const { continuation } = this.#options;
    const { decision, provider, passkey, username: user = '', password = '' } = SIGN_IN_FORM.decode(form);
    if (decision === 'cancel') return continuation.cancelled(context, request);
    const again = (alert: Alert): void => this.show(context, request, { user, alert });
    if (rejection !== undefined) return again(TICKET_ALERTS[rejection]);
    if (provider !== undefined) {
      const loginHint = user === '' ? undefined : user;
      const { again: isAgain = false } = continuation.describe(request);
      const options = { loginHint, again: isAgain };
      const { redirects, action } = this.#options;
      const text = await redirects.begin(context, provider, { action, request }, options);
      return text === undefined ? undefined : again({ text });
    }
    if (passkey !== undefined) return this.#verifyPasskey(context, request, { ...opened, text: passkey });
    if (user === '') return again({ text: 'Enter your user name.', field: 'username' });
    if (password === '') return again({ text: 'Enter your password.', field: 'password' });
    return this.#authenticate(context, request, { user, password });
  }

  async #verifyPasskey(context: RequestContext, request: T, response: PasskeyResponse): Promise<void> {
    const verdict = await this.#options.passkeys.signIn(response, this.#attempt(context, request));
    if ('refusal' in verdict) {
      return this.show(context, request, { alert: { text: verdict.refusal } });
    }
    await this.#factors.next(context, pendingSignIn(request, verdict));
  }

  /** `wrong`: the alert for a wrong password. */
  async #authenticate(
    context: RequestContext,
    request: T,
    { user, password }: { readonly user: string; readonly password: string },
    wrong = WRONG_PASSWORD,
  ): Promise<void> {
    let checked: CheckedUser;
    try {
      checked = await this.#options.passwords.check({
        user,
        password,
        ...this.#attempt(context, request),
        method: 'page',
        acceptMustChange: true,
        asksForFactor: true,
      });
    } catch (error) {
      if (error instanceof NameMissing) return this.#names.show(context, request, error.newPerson);
      const rejected = rejection(error, wrong);
      if (!rejected) throw error;
      const { alert, options } = rejected;
      return this.show(context, request, { user, alert }, options);
    }
    const { credential } = checked;
    const replaces = credential?.mustChange
      ? { uid: credential.uid, changedAt: credential.changedAt }
      : undefined;
    await this.#factors.next(context, { ...pendingSignIn(request, checked), replaces });
  }

  /** Continues with all factors: a forced change of the password comes last, so that the password alone does not suffice for it. */
  async #complete(context: RequestContext, pending: PendingSignIn<T>): Promise<void> {
    const { request, account, authentication, replaces: proven } = pending;
    if (proven)
      return this.#newPasswords.show(context, { request, account, proven, amr: authentication.amr });
    const { browsers, continuation, sourceOf } = this.#options;
    const by = { account, authentication, ...originOf(context.request, sourceOf) };
    await continuation.granted(context, request, { ...by, browser: await browsers.begin(context, by) });
  }

  #attempt(context: RequestContext, request: T): FormAttempt {
    const { continuation, sourceOf } = this.#options;
    return formAttempt(context, sourceOf, continuation.describe(request).client?.id);
  }
}

/** `client`: none on pages of this server. */
export function formAttempt(context: RequestContext, sourceOf: SourceAddress, client = ''): FormAttempt {
  const origin = originOf(context.request, sourceOf);
  return {
    ...origin,
    client,
    requestID: context.auditID,
    caller: networkCaller(origin.source),
    signal: context.signal,
  };
}
