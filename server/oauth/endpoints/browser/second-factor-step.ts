// The step of a sign-in after the password or the identity provider: asks for the second factor of the user, or lets the user add one.
// Before this step, nothing reveals whether a user has a factor.
import { FactorFormSchema } from '../../../../apis/oauth/forms.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import type { EnrolmentRight } from '../../factors/enrolment.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import { PASSKEY_REFUSED, type PasskeyResponse, type PasskeySignIn } from '../../factors/passkey-sign-in.ts';
import { passkeyMethods } from '../../factors/passkeys.ts';
import { type CodeVerdict, type SecondFactor, TOTP_METHODS } from '../../factors/second-factor.ts';
import type { TOTPSecrets } from '../../factors/totp.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { FormTickets } from '../../page/form-tickets.ts';
import type { Page, PageOptions } from '../../page/page.ts';
import { codePage, type FactorMethod, passkeyPage } from '../../page/second-factor-pages.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import { type Authentication, MULTIPLE_FACTORS, withMethods } from '../../sessions/proof.ts';
import type { SessionValidity } from '../../sessions/session-validity.ts';
import type { PasswordID, UserID } from '../../users/account.ts';
import type { Continuation, FormAttempt, Shown, SignedIn } from './continuation.ts';
import { FactorEnrolment } from './factor-enrolment.ts';
import { rejection, TICKET_ALERTS } from './form-rejections.ts';

/** A user who is authenticated, perhaps not with all factors. */
export interface PendingSignIn<T> {
  readonly request: T;
  readonly account: UserID;
  readonly authentication: Authentication;
  /** The password that the user must replace before the sign-in continues. */
  readonly replaces?: PasswordID | undefined;
}

/** Only the necessary fields, because tickets are readable. */
export function pendingSignIn<T>(
  request: T,
  { account: { name, uid }, authentication }: Pick<SignedIn, 'account' | 'authentication'>,
): PendingSignIn<T> {
  return { request, account: { name, uid }, authentication };
}

type Enrolling<T> = PendingSignIn<T> & { readonly right: EnrolmentRight };

export interface SecondFactorStepOptions<T> extends TicketOptions {
  /** Path of the form's handler. */
  readonly action: string;
  readonly texts: SignInPageTexts;
  readonly factorPolicy: Pick<FactorPolicy, 'lacksFactor' | 'hasFactor' | 'canEnrol'>;
  readonly secondFactor: Pick<SecondFactor, 'of' | 'check'>;
  readonly validity: Pick<SessionValidity, 'signInEnd'>;
  readonly passkeys: Pick<PasskeySignIn, 'relyingParty' | 'secondFactorOptions' | 'confirm'>;
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'update'>;
  readonly secrets: TOTPSecrets;
  readonly continuation: Pick<Continuation<T>, 'describe' | 'cancelled'>;
  readonly attempt: (context: RequestContext, request: T) => FormAttempt;
  /** Shows the sign-in form again. */
  readonly startAgain: (context: RequestContext, request: T, shown: Shown) => void;
  /** Continues with all factors that the user needs. */
  readonly complete: (context: RequestContext, pending: PendingSignIn<T>) => Promise<void>;
}

const FORM = new FormDecoder(FactorFormSchema);
/** Validity of the form. */
const FACTOR_MS = 5 * 60_000;
const WRONG: Alert = { text: 'This code is wrong, or was already used.', field: 'code' };
const TOO_LATE =
  'Your account needs a second factor, and the time to add one is over. Ask an administrator of this platform for a one-time code.';

export class SecondFactorStep<T> {
  readonly #options: SecondFactorStepOptions<T>;
  readonly #tickets: FormTickets<PendingSignIn<T>>;
  readonly #enrolment: FactorEnrolment<Enrolling<T>>;

  constructor(options: SecondFactorStepOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`second factor ${options.action}`, FACTOR_MS, options);
    this.#enrolment = new FactorEnrolment({
      ...options,
      redirectsToClient: (pending) => this.#redirectsToClient(pending),
      // The write checks the factors. A thief must not leave a factor behind by keeping the page open.
      isPermitted: async (_context, pending) =>
        (pending.right.kind !== 'first' || options.factorPolicy.canEnrol(pending.account)) &&
        this.#isProven(pending),
      enrolled: (context, pending, { passkey }) =>
        this.#proven(context, pending, passkey ? passkeyMethods(passkey) : TOTP_METHODS),
      startAgain: (context, pending, alert) => this.#startAgain(context, pending, alert),
      cancelled: (context, { request }) => options.continuation.cancelled(context, request),
    });
  }

  /** Continues the sign-in, or writes the page that asks for the factor that is missing. */
  async next(context: RequestContext, pending: PendingSignIn<T>): Promise<void> {
    const { factorPolicy, complete } = this.#options;
    const { account, authentication } = pending;
    if (!factorPolicy.lacksFactor(account, authentication) && !this.#isAsked(pending))
      return complete(context, pending);
    if (factorPolicy.hasFactor(account)) return this.#show(context, pending);
    if (factorPolicy.canEnrol(account))
      return this.#enrolment.showApp(context, { ...pending, right: { kind: 'first' } });
    context.log.info({ user: account.name }, 'sign-in rejected: the user has no second factor');
    return this.#startAgain(context, pending, { text: TOO_LATE });
  }

  #isAsked({ request, account, authentication }: PendingSignIn<T>): boolean {
    const { continuation, factorPolicy } = this.#options;
    const { withFactor = false } = continuation.describe(request);
    return withFactor && factorPolicy.hasFactor(account) && !authentication.amr.includes(MULTIPLE_FACTORS);
  }

  /** False for another form. */
  async submitted(context: RequestContext, form: Form): Promise<boolean> {
    const opened = this.#tickets.submitted(context, form);
    if (!opened) return this.#enrolment.submitted(context, form);
    const { content: pending, rejection } = opened;
    const { continuation } = this.#options;
    const { decision, method, passkey: text, code = '', with: used = 'app' } = FORM.decode(form);
    if (decision === 'cancel') await continuation.cancelled(context, pending.request);
    else if (rejection !== undefined) this.#startAgain(context, pending, TICKET_ALERTS[rejection]);
    else if (!this.#isProven(pending)) this.#startAgain(context, pending, TICKET_ALERTS.expired);
    else if (method !== undefined) this.#show(context, pending, method);
    else if (text !== undefined) await this.#checkPasskey(context, pending, { ...opened, text });
    else if (code === '') this.#show(context, pending, used, { text: 'Enter a code.', field: 'code' });
    else await this.#check(context, pending, used, code);
    return true;
  }

  /**
   * Whether the first factor is still valid: a thief of an earlier password, who keeps the page open by submitting it, must not try codes,
   * because wrong ones delay the user.
   */
  #isProven({ account: { name: user, uid: userUID }, authentication }: PendingSignIn<T>): boolean {
    const createdAt = authentication.authTime;
    return this.#options.validity.signInEnd({ user, userUID, createdAt, authentication }) === undefined;
  }

  async #check(
    context: RequestContext,
    pending: PendingSignIn<T>,
    used: 'app' | 'recovery',
    code: string,
  ): Promise<void> {
    const { secondFactor, attempt } = this.#options;
    let verdict: CodeVerdict;
    try {
      verdict = await secondFactor.check(pending.account, code, attempt(context, pending.request));
    } catch (error) {
      const rejected = rejection(error, WRONG);
      if (!rejected) throw error;
      const alert = { ...rejected.alert, field: 'code' };
      return this.#show(context, pending, used, alert, rejected.options);
    }
    if (verdict.outcome === 'accepted') return this.#proven(context, pending, verdict.amr);
    if (verdict.outcome === 'replace') {
      const right = { kind: 'one-time code', hash: verdict.hash } as const;
      return this.#enrolment.showApp(context, { ...pending, right });
    }
    return this.#show(context, pending, used, WRONG);
  }

  /** Rejected responses do not count as wrong codes: they cannot be guessed, and a thief of the password could delay the user. */
  async #checkPasskey(
    context: RequestContext,
    pending: PendingSignIn<T>,
    response: PasskeyResponse,
  ): Promise<void> {
    const { passkeys, attempt } = this.#options;
    const methods = await passkeys.confirm(pending.account, response, attempt(context, pending.request));
    if (methods) return this.#proven(context, pending, methods);
    this.#show(context, pending, 'passkey', { text: PASSKEY_REFUSED });
  }

  #proven(context: RequestContext, pending: PendingSignIn<T>, methods: readonly string[]): Promise<void> {
    const { request, account, authentication, replaces } = pending;
    const proven = withMethods(authentication, methods);
    return this.#options.complete(context, { request, account, authentication: proven, replaces });
  }

  #show(
    context: RequestContext,
    pending: PendingSignIn<T>,
    asked?: FactorMethod,
    alert?: Alert,
    options: PageOptions = {},
  ): void {
    const { action, texts, secondFactor, passkeys } = this.#options;
    const { account } = pending;
    const page = (ticket: string): Page => {
      const passkey = passkeys.secondFactorOptions(account, ticket);
      const methods: FactorMethod[] = [
        ...(passkey ? ['passkey' as const] : []),
        ...(secondFactor.of(account).totp ? ['app' as const] : []),
        // The last one, because a recovery code is used up.
        'recovery',
      ];
      const [first = 'recovery'] = methods;
      const method = methods.find((each) => each === asked) ?? first;
      const others = methods.filter((each) => each !== method);
      const view = { ...texts, action, ticket, user: account.name, others, alert };
      return method === 'passkey' && passkey
        ? passkeyPage(view, passkey)
        : codePage(view, method === 'app' ? 'app' : 'recovery');
    };
    const redirectsToClient = this.#redirectsToClient(pending);
    this.#tickets.show(context, pending, page, { ...options, redirectsToClient });
  }

  #startAgain(context: RequestContext, { request, account }: PendingSignIn<T>, alert: Alert): void {
    this.#options.startAgain(context, request, { user: account.name, alert });
  }

  #redirectsToClient({ request }: PendingSignIn<T>): boolean {
    return this.#options.continuation.describe(request).destination !== undefined;
  }
}
