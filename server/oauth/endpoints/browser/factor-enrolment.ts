// The pages on which a user adds an authenticator app or a passkey, and gets recovery codes, at a sign-in and on the account page.
// Nothing is stored before the user has used the factor, and confirmed that the recovery codes are saved.
import { FactorFormSchema } from '../../../../apis/oauth/forms.ts';
import { printable } from '../../../observability/printable-text.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import {
  type EnrolmentOptions,
  type EnrolmentRight,
  enrol,
  type NewFactors,
} from '../../factors/enrolment.ts';
import type { PasskeySignIn } from '../../factors/passkey-sign-in.ts';
import { creationOptions, PasskeyRejected, verifyRegistration } from '../../factors/passkeys.ts';
import { hashOfCode, newRecoveryCodes } from '../../factors/recovery-codes.ts';
import { newTOTPSecret, stepOf, type TOTPSecrets, totpURI } from '../../factors/totp.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { FormTickets } from '../../page/form-tickets.ts';
import type { PageOptions } from '../../page/page.ts';
import { newPasskeyPage } from '../../page/passkey-pages.ts';
import { newAppPage, recoveryCodesPage } from '../../page/second-factor-pages.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import { shortUserAgent } from '../../page/user-agent.ts';
import type { Account, UserID } from '../../users/account.ts';
import { TICKET_ALERTS } from './form-rejections.ts';

/** A user who adds a factor, and why this is allowed. */
export interface Enrolling {
  readonly account: UserID & Partial<Pick<Account, 'displayName'>>;
  readonly right: EnrolmentRight;
}

export interface FactorEnrolmentOptions<P extends Enrolling>
  extends TicketOptions,
    Pick<EnrolmentOptions, 'factorPolicy'> {
  /** Path of the forms' handler. */
  readonly action: string;
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'update'>;
  readonly secrets: TOTPSecrets;
  readonly passkeys: Pick<PasskeySignIn, 'relyingParty'>;
  /** Whether the form ends in a redirect to a client. */
  readonly redirectsToClient: (pending: P) => boolean;
  /** Whether the user may still add a factor, when a form is submitted. */
  readonly isPermitted: (context: RequestContext, pending: P) => Promise<boolean>;
  /** Continues when the factors are stored. */
  readonly enrolled: (context: RequestContext, pending: P, added: NewFactors) => Promise<void>;
  /** Shows the page before the enrolment. */
  readonly startAgain: (context: RequestContext, pending: P, alert: Alert) => Promise<void> | void;
  readonly cancelled: (context: RequestContext, pending: P) => Promise<void> | void;
}

interface Step<P> {
  readonly pending: P;
  /** Encrypted. */
  readonly secret: string;
}

interface PasskeyStep<P> {
  readonly pending: P;
}

interface CodesStep<P> {
  readonly pending: P;
  readonly added: NewFactors;
}

const FORM = new FormDecoder(FactorFormSchema);
/** Validity of the forms. */
const ENROLMENT_MS = 15 * 60_000;
/** A passkey that a thief has added must not hide in the list behind an invisible name. */
export const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
export const NO_NAME = 'Enter a name for the passkey.';
const KNOWN_PASSKEY = { text: 'You have this passkey already.' };
const REJECTED_PASSKEY = { text: 'The passkey was not accepted. Try again.' };
/** For factors that are not what the user has seen. */
export const CHANGED_MEANWHILE = {
  text: 'Your second factors were changed in the meantime. Please try again.',
};

export class FactorEnrolment<P extends Enrolling> {
  readonly #options: FactorEnrolmentOptions<P>;
  readonly #apps: FormTickets<Step<P>>;
  readonly #passkeys: FormTickets<PasskeyStep<P>>;
  readonly #codes: FormTickets<CodesStep<P>>;

  constructor(options: FactorEnrolmentOptions<P>) {
    this.#options = options;
    this.#apps = new FormTickets(`authenticator app ${options.action}`, ENROLMENT_MS, options);
    this.#passkeys = new FormTickets(`new passkey ${options.action}`, ENROLMENT_MS, options);
    this.#codes = new FormTickets(`recovery codes ${options.action}`, ENROLMENT_MS, options);
  }

  /** Shows a new secret for an app. */
  async showApp(context: RequestContext, pending: P): Promise<void> {
    const secret = newTOTPSecret();
    const sealed = await this.#options.secrets.seal(pending.account, secret);
    this.#writeApp(context, { pending, secret: sealed }, secret);
  }

  /** Shows new recovery codes, with which `added` is stored. */
  showCodes(context: RequestContext, pending: P, added: NewFactors = {}): void {
    const { action, texts } = this.#options;
    const codes = newRecoveryCodes();
    const content = { pending, added: { ...added, codes: codes.map(hashOfCode) } };
    const page = (ticket: string) => recoveryCodesPage({ ...texts, action, ticket }, codes);
    this.#codes.show(context, content, page, this.#pageOptions(pending));
  }

  /** False for another form. */
  async submitted(context: RequestContext, form: Form): Promise<boolean> {
    const app = this.#apps.submitted(context, form);
    const passkey = this.#passkeys.submitted(context, form);
    const codes = this.#codes.submitted(context, form);
    const opened = app ?? passkey ?? codes;
    if (!opened) return false;
    const { startAgain, cancelled, isPermitted } = this.#options;
    const { pending } = opened.content;
    const { code = '', decision, method, passkey: text = '', name = '' } = FORM.decode(form);
    if (decision === 'cancel') await cancelled(context, pending);
    else if (opened.rejection !== undefined)
      await startAgain(context, pending, TICKET_ALERTS[opened.rejection]);
    else if (!(await isPermitted(context, pending)))
      await startAgain(context, pending, TICKET_ALERTS.expired);
    else if (method === 'app') await this.showApp(context, pending);
    else if (method === 'passkey') await this.showPasskey(context, pending);
    else if (passkey) await this.#checkPasskey(context, pending, { ...passkey, text, name });
    else if (app) await this.#checkCode(context, app.content, code);
    else if (codes) await this.#store(context, pending, codes.content.added);
    return true;
  }

  async #checkCode(context: RequestContext, step: Step<P>, code: string): Promise<void> {
    const { secrets, authenticators, startAgain, now } = this.#options;
    const { pending, secret: sealed } = step;
    const secret = await secrets.open(pending.account, sealed);
    if (secret === undefined) return startAgain(context, pending, TICKET_ALERTS.expired);
    const used = stepOf(code.replaceAll(/\s/g, ''), secret, now());
    if (used === undefined) {
      const text =
        'This code is not right. Check the time of your device, and enter the code that the app shows now.';
      return this.#writeApp(context, step, secret, { text, field: 'code' });
    }
    const app = { secret: sealed, step: used };
    const keepsCodes =
      pending.right.kind === 'session' && authenticators.of(pending.account).recoveryCodes.length > 0;
    return keepsCodes ? this.#store(context, pending, { app }) : this.showCodes(context, pending, { app });
  }

  async #checkPasskey(
    context: RequestContext,
    pending: P,
    { ticket, text, name }: { readonly ticket: string; readonly text: string; readonly name: string },
  ): Promise<void> {
    const { relyingParty } = this.#options.passkeys;
    const again = (alert: Alert): Promise<void> => this.showPasskey(context, pending, name, alert);
    const named = name.trim();
    if (!VISIBLE.test(named)) return again({ text: NO_NAME, field: 'name' });
    if (!relyingParty) return again(REJECTED_PASSKEY);
    try {
      const passkey = await verifyRegistration({ relyingParty, ticket }, { text, name: named });
      // On the account page, users get recovery codes when they ask for them.
      if (pending.right.kind === 'session') return await this.#store(context, pending, { passkey });
      return this.showCodes(context, pending, { passkey });
    } catch (error) {
      if (!(error instanceof PasskeyRejected)) throw error;
      const reason = printable(error.message, 200);
      context.log.info({ user: pending.account.name, reason }, 'passkey rejected');
      return again(REJECTED_PASSKEY);
    }
  }

  /** Shows the page that creates a passkey, or the one for an app if the server cannot have passkeys. `name`: by default of the device. */
  async showPasskey(context: RequestContext, pending: P, name?: string, alert?: Alert): Promise<void> {
    const { passkeys, authenticators, action, texts } = this.#options;
    const { request } = context;
    const { account, right } = pending;
    const { relyingParty } = passkeys;
    if (!relyingParty) return this.showApp(context, pending);
    const view = {
      ...texts,
      action,
      name: name ?? shortUserAgent(request.headers['user-agent'] ?? ''),
      isRequired: right.kind !== 'session',
      alert,
    };
    const known = authenticators.of(account).passkeys;
    const page = (ticket: string) =>
      newPasskeyPage({ ...view, ticket, options: creationOptions({ relyingParty, ticket }, account, known) });
    this.#passkeys.show(context, { pending }, page, this.#pageOptions(pending));
  }

  async #store(context: RequestContext, pending: P, added: NewFactors): Promise<void> {
    const { enrolled, startAgain } = this.#options;
    const { account, right } = pending;
    const outcome = await enrol(account, right, added, this.#options, context.signal);
    if (outcome === 'known') return this.showPasskey(context, pending, added.passkey?.name, KNOWN_PASSKEY);
    if (outcome === 'changed') return startAgain(context, pending, CHANGED_MEANWHILE);
    context.log.info(
      {
        user: account.name,
        app: added.app !== undefined,
        passkey: added.passkey?.id,
        recoveryCodes: added.codes?.length ?? 0,
        right: right.kind,
      },
      'second factor added',
    );
    return enrolled(context, pending, added);
  }

  #writeApp(context: RequestContext, step: Step<P>, secret: string, alert?: Alert): void {
    const { action, texts } = this.#options;
    const { account, right } = step.pending;
    const isRequired = right.kind !== 'session';
    const view = {
      ...texts,
      action,
      user: account.name,
      secret,
      uri: totpURI(secret, texts.platformName, account.name),
      isRequired,
      canAddPasskey: isRequired && this.#options.passkeys.relyingParty !== undefined,
      alert,
    };
    const page = (ticket: string) => newAppPage({ ...view, ticket });
    this.#apps.show(context, step, page, this.#pageOptions(step.pending));
  }

  #pageOptions(pending: P): PageOptions {
    return { redirectsToClient: this.#options.redirectsToClient(pending) };
  }
}
