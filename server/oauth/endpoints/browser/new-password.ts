// Handles the form with which a user replaces a password that an administrator has set, before the sign-in continues.
import { NewPasswordFormSchema } from '../../../../apis/oauth/forms.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { FormTickets, type SubmittedForm } from '../../page/form-tickets.ts';
import { type Page, type PageOptions, writePage } from '../../page/page.ts';
import { newPasswordPage, type SignInPageTexts } from '../../page/sign-in-pages.ts';
import type { OwnPasswordChange } from '../../passwords/own-password-change.ts';
import { byPassword } from '../../sessions/proof.ts';
import type { PasswordID, UserID } from '../../users/account.ts';
import type { Continuation, Shown } from './continuation.ts';
import { TICKET_ALERTS } from './form-rejections.ts';
import type { PendingSignIn } from './second-factor-step.ts';

interface NewPasswordFormsOptions<T> extends TicketOptions {
  /** Path of the form's handler. */
  readonly action: string;
  readonly texts: SignInPageTexts;
  readonly passwordChange: Pick<OwnPasswordChange, 'change'>;
  readonly continuation: Pick<Continuation<T>, 'describe'>;
  /** Shows the sign-in form again. */
  startAgain(context: RequestContext, request: T, shown: Shown): void;
  /** Verifies a password as the sign-in form does. */
  authenticate(
    context: RequestContext,
    request: T,
    typed: { readonly user: string; readonly password: string },
  ): Promise<void>;
  /** Continues the sign-in with the new password. */
  next(context: RequestContext, pending: PendingSignIn<T>): Promise<void>;
}

interface PasswordReplacement<T> {
  readonly request: T;
  readonly account: UserID;
  /** The password that was verified. */
  readonly proven: PasswordID;
  /** Methods of the authentication so far. */
  readonly amr: readonly string[];
}

const FORM = new FormDecoder(NewPasswordFormSchema);
/** Validity of the form. */
const CHANGE_MS = 10 * 60_000;

export class NewPasswordForms<T> {
  readonly #options: NewPasswordFormsOptions<T>;
  readonly #tickets: FormTickets<PasswordReplacement<T>>;

  constructor(options: NewPasswordFormsOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`new password ${options.action}`, CHANGE_MS, options);
  }

  /** The ticket is readable in the page, so it contains only what is necessary. */
  show(context: RequestContext, replacement: PasswordReplacement<T>): void {
    const page = (ticket: string) => this.#page(replacement, ticket);
    this.#tickets.show(context, replacement, page, this.#pageOptions(replacement));
  }

  #page({ account }: PasswordReplacement<T>, ticket: string, alert?: Alert): Page {
    const { action, texts } = this.#options;
    return newPasswordPage({ ...texts, action, ticket, alert }, account.name);
  }

  #pageOptions({ request }: PasswordReplacement<T>): PageOptions {
    return { redirectsToClient: this.#options.continuation.describe(request).destination !== undefined };
  }

  /** False for another form. */
  async submitted(context: RequestContext, form: Form): Promise<boolean> {
    const ticket = this.#tickets.submitted(context, form);
    if (!ticket) return false;
    const { content, rejection } = ticket;
    if (rejection === undefined) {
      await this.#change(context, ticket, form);
    } else {
      const { request, account } = content;
      this.#options.startAgain(context, request, { user: account.name, alert: TICKET_ALERTS[rejection] });
    }
    return true;
  }

  async #change(
    context: RequestContext,
    { content, ticket }: SubmittedForm<PasswordReplacement<T>>,
    form: Form,
  ): Promise<void> {
    const { passwordChange, now } = this.#options;
    const { request, account, proven, amr } = content;
    const { new_password: password = '', repeated = '' } = FORM.decode(form);
    // With the same ticket: rejected passwords do not extend the validity of the second factor.
    const again = (text: string, field: string): void =>
      writePage(context.response, this.#page(content, ticket, { text, field }), this.#pageOptions(content));
    if (password !== repeated) return again('The two passwords are not the same.', 'repeated');
    const outcome = await passwordChange.change(account, password, proven, context.signal);
    if (outcome === 'conflict') {
      // For instance a form that was sent twice: then the new password is valid.
      return this.#options.authenticate(context, request, { user: account.name, password });
    }
    if ('invalid' in outcome) return again(`The new password ${outcome.invalid}.`, 'new_password');
    context.log.info({ user: account.name }, 'password changed at sign-in');
    const authentication = byPassword(outcome.credential, now(), amr);
    await this.#options.next(context, { request, account, authentication });
  }
}
