// Handles the form on which a person of an identity provider chooses a user name, before the sign-in continues. The person is encrypted
// in the ticket of the form, which is valid in one browser.
import { NameFormSchema } from '../../../../apis/oauth/forms.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { Seal } from '../../keys/seal.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { FormTickets, type SubmittedForm } from '../../page/form-tickets.ts';
import { namePage } from '../../page/name-page.ts';
import { type Page, type PageOptions, writePage } from '../../page/page.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import { refusalText } from '../../passwords/sign-in-refusal.ts';
import type { NewPerson } from '../../providers/identities.ts';
import { proposedName } from '../../providers/person-rules.ts';
import type { Continuation, FormAttempt, Shown } from './continuation.ts';
import { rejection, TICKET_ALERTS } from './form-rejections.ts';
import type { NameChoice, NameRefusal } from './name-choice.ts';
import { type PendingSignIn, pendingSignIn } from './second-factor-step.ts';

export interface NameFormsOptions<T> extends TicketOptions {
  /** Path of the form's handler. */
  readonly action: string;
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
  readonly names: Pick<NameChoice, 'providerOf' | 'choose'>;
  readonly nameSeal: Pick<Seal, 'seal' | 'open'>;
  readonly continuation: Pick<Continuation<T>, 'describe' | 'cancelled'>;
  attempt(context: RequestContext, request: T): FormAttempt;
  /** Shows the sign-in form again. */
  startAgain(context: RequestContext, request: T, shown: Shown): void;
  /** Continues the sign-in as the new user. */
  next(context: RequestContext, pending: PendingSignIn<T>): Promise<void>;
}

interface NameTicket<T> {
  readonly request: T;
  /** Encrypted, because the page must not contain a refresh token of the provider. */
  readonly person: string;
}

const FORM = new FormDecoder(NameFormSchema);
/** Validity of the form, and so of the sign-in at the provider. */
const CHOICE_MS = 10 * 60_000;

const ALERTS: Partial<Record<NameRefusal, string>> = {
  name_invalid: 'This is not a valid user name.',
  name_taken: 'This user name is not available. Choose another one.',
};
const SIGN_IN_AGAIN = 'You have a user name already. Please sign in again.';

export class NameForms<T> {
  readonly #options: NameFormsOptions<T>;
  readonly #tickets: FormTickets<NameTicket<T>>;

  constructor(options: NameFormsOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`user name ${options.action}`, CHOICE_MS, options);
  }

  async show(context: RequestContext, request: T, person: NewPerson): Promise<void> {
    const sealed = await this.#options.nameSeal.seal(JSON.stringify(person));
    const page = this.#pageOf(person, { name: proposedName(person.person.name) });
    this.#tickets.show(context, { request, person: sealed }, page, this.#pageOptions(request));
  }

  #pageOf(
    person: NewPerson,
    shown: { readonly name: string; readonly alert?: Alert },
  ): (ticket: string) => Page {
    const { action, texts, names } = this.#options;
    const provider = names.providerOf(person) ?? person.provider;
    const upstreamName = person.person.name ?? '';
    const view = { ...texts, action, provider, upstreamName, ...shown };
    return (ticket) => namePage({ ...view, ticket });
  }

  #pageOptions(request: T): PageOptions {
    return { redirectsToClient: this.#options.continuation.describe(request).destination !== undefined };
  }

  /** False for another form. */
  async submitted(context: RequestContext, form: Form): Promise<boolean> {
    const { nameSeal, continuation } = this.#options;
    const opened = this.#tickets.submitted(context, form);
    if (!opened) return false;
    const { content, rejection: invalid } = opened;
    const { request } = content;
    const { decision, name = '' } = FORM.decode(form);
    const sealed = invalid === undefined ? await nameSeal.open(content.person) : undefined;
    if (decision === 'cancel') {
      await continuation.cancelled(context, request);
    } else if (sealed === undefined) {
      this.#options.startAgain(context, request, { alert: TICKET_ALERTS[invalid ?? 'expired'] });
    } else {
      // Only `show` can have sealed it.
      await this.#choose(context, opened, JSON.parse(sealed) as NewPerson, name);
    }
    return true;
  }

  async #choose(
    context: RequestContext,
    { content: { request }, ticket }: SubmittedForm<NameTicket<T>>,
    person: NewPerson,
    name: string,
  ): Promise<void> {
    const { names } = this.#options;
    // With the same ticket: rejected names do not extend the validity of the sign-in at the provider.
    const again = (alert: Alert, options: PageOptions = {}): void => {
      const page = this.#pageOf(person, { name, alert })(ticket);
      writePage(context.response, page, { ...this.#pageOptions(request), ...options });
    };
    try {
      const outcome = await names.choose(person, name, this.#options.attempt(context, request));
      if (typeof outcome !== 'string')
        return await this.#options.next(context, pendingSignIn(request, outcome));
      const text = ALERTS[outcome];
      if (text !== undefined) return again({ text, field: 'name' });
      const refusal = outcome === 'named_meanwhile' ? SIGN_IN_AGAIN : refusalText(outcome);
      return this.#options.startAgain(context, request, { alert: { text: refusal } });
    } catch (error) {
      const rejected = rejection(error, { text: '' });
      if (!rejected) throw error;
      return again({ ...rejected.alert, field: 'name' }, rejected.options);
    }
  }
}
