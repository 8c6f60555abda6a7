// The pages on which a user adds an authenticator app, or at a sign-in a passkey, and gets recovery codes. Nothing is stored before the
// user has used the factor, and confirmed that the recovery codes are saved.
import { FactorFormSchema } from '../../../../apis/oauth/forms.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import {
  type EnrolmentOptions,
  type EnrolmentRight,
  enrol,
  type NewFactors,
} from '../../factors/enrolment.ts';
import type { PasskeySignIn } from '../../factors/passkey-sign-in.ts';
import { creationOptions } from '../../factors/passkeys.ts';
import { hashOfCode, newRecoveryCodes } from '../../factors/recovery-codes.ts';
import { newTOTPSecret, stepOf, type TOTPSecrets, totpURI } from '../../factors/totp.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { browserIDIn, browserOf, FormTickets } from '../../page/form-tickets.ts';
import { type PageOptions, writePage } from '../../page/page.ts';
import { passkeyScript } from '../../page/passkey-form.ts';
import { newPasskeyPage } from '../../page/passkey-pages.ts';
import { newAppPage, recoveryCodesPage } from '../../page/second-factor-pages.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import type { UserID } from '../../users/account.ts';
import { forged, TICKET_ALERTS } from './form-rejections.ts';
import { type CreatedPasskey, deviceName, verifiedPasskey } from './new-passkey.ts';

/** A user who adds a factor, and why this is allowed. */
export interface Enrolling {
  readonly account: UserID;
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
  /** Undefined where the user can add only an app. */
  readonly passkeys?: Pick<PasskeySignIn, 'relyingParty'>;
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
const CONFLICT = { text: 'Your second factors were changed in the meantime. Please try again.' };

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

  /** Shows a new secret. */
  async show(context: RequestContext, pending: P): Promise<void> {
    const secret = newTOTPSecret();
    const sealed = await this.#options.secrets.seal(pending.account, secret);
    this.#showApp(context, { pending, secret: sealed }, secret);
  }

  /** Shows new recovery codes, with which `added` is stored. */
  showCodes(context: RequestContext, pending: P, added: NewFactors = {}): void {
    const { action, texts } = this.#options;
    const codes = newRecoveryCodes();
    const content = { pending, added: { ...added, codes: codes.map(hashOfCode) } };
    const ticket = this.#codes.seal(content, browserOf(context.request).id);
    const page = recoveryCodesPage({ platformName: texts.platformName, action, ticket, codes });
    this.#write(context, pending, page);
  }

  /** False for another form. */
  async submitted(context: RequestContext, form: Form): Promise<boolean> {
    const [ticket, browser] = [form.get('ticket') ?? '', browserIDIn(context.request) ?? ''];
    const app = this.#apps.open(ticket, browser);
    const passkey = this.#passkeys.open(ticket, browser);
    const codes = this.#codes.open(ticket, browser);
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
    else if (method === 'app') await this.show(context, pending);
    else if (method === 'passkey') this.#showPasskey(context, pending);
    else if (passkey) await this.#checkPasskey(context, pending, { ticket, text, name });
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
      return this.#showApp(context, step, secret, { text, field: 'code' });
    }
    const app = { secret: sealed, step: used };
    const keepsCodes =
      pending.right.kind === 'session' && authenticators.of(pending.account).recoveryCodes.length > 0;
    return keepsCodes ? this.#store(context, pending, { app }) : this.showCodes(context, pending, { app });
  }

  /** There are passkeys, because the page with this form was shown. */
  async #checkPasskey(
    context: RequestContext,
    pending: P,
    { ticket, ...created }: CreatedPasskey & { readonly ticket: string },
  ): Promise<void> {
    const relyingParty = this.#options.passkeys?.relyingParty;
    if (!relyingParty) return this.show(context, pending);
    const passkey = await verifiedPasskey(context, pending.account, { relyingParty, ticket }, created);
    if ('text' in passkey) return this.#showPasskey(context, pending, created.name, passkey);
    return this.showCodes(context, pending, { passkey });
  }

  #showPasskey(context: RequestContext, pending: P, name = deviceName(context), alert?: Alert): void {
    const { passkeys, action, texts } = this.#options;
    const relyingParty = passkeys?.relyingParty;
    if (!relyingParty) throw forged();
    const ticket = this.#passkeys.seal({ pending }, browserOf(context.request).id);
    const options = creationOptions({ relyingParty, ticket }, pending.account);
    const { platformName } = texts;
    const page = newPasskeyPage({ platformName, action, ticket, options, name, isRequired: true, alert });
    const status = alert ? { status: 400 } : {};
    this.#write(context, pending, page, { ...status, ...passkeyScript().options });
  }

  async #store(context: RequestContext, pending: P, added: NewFactors): Promise<void> {
    const { enrolled, startAgain } = this.#options;
    const { account, right } = pending;
    if (!(await enrol(account, right, added, this.#options, context.signal)))
      return startAgain(context, pending, CONFLICT);
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

  #showApp(context: RequestContext, step: Step<P>, secret: string, alert?: Alert): void {
    const { action, texts } = this.#options;
    const { account, right } = step.pending;
    const { platformName } = texts;
    const page = newAppPage({
      platformName,
      action,
      ticket: this.#apps.seal(step, browserOf(context.request).id),
      user: account.name,
      secret,
      uri: totpURI(secret, platformName, account.name),
      isRequired: right.kind !== 'session',
      canAddPasskey: this.#options.passkeys?.relyingParty !== undefined,
      alert,
    });
    this.#write(context, step.pending, page, alert ? { status: 400 } : {});
  }

  #write(
    { response }: RequestContext,
    pending: P,
    page: Parameters<typeof writePage>[1],
    options: PageOptions = {},
  ): void {
    writePage(response, page, { redirectsToClient: this.#options.redirectsToClient(pending), ...options });
  }
}
