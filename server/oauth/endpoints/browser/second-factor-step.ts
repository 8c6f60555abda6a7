// The step of a sign-in after the password or the identity provider: asks for the second factor of the user, or lets the user add one.
// Before this step, nothing reveals whether a user has a factor.
import { FactorFormSchema } from '../../../../apis/oauth/forms.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import type { EnrolmentRight } from '../../factors/enrolment.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import { type CodeVerdict, type SecondFactor, TOTP_METHODS } from '../../factors/second-factor.ts';
import type { TOTPSecrets } from '../../factors/totp.ts';
import type { Form } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import { browserIDIn, browserOf, FormTickets } from '../../page/form-tickets.ts';
import { type PageOptions, writePage } from '../../page/page.ts';
import { codePage } from '../../page/second-factor-pages.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import type { Authentication } from '../../sessions/proof.ts';
import type { PasswordID, UserID } from '../../users/account.ts';
import { AppEnrolment } from './app-enrolment.ts';
import type { Continuation, Shown, SignedIn } from './continuation.ts';
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
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'update'>;
  readonly secrets: TOTPSecrets;
  readonly continuation: Pick<Continuation<T>, 'describe' | 'cancelled'>;
  readonly originOf: (context: RequestContext) => Pick<SignedIn, 'source' | 'userAgent'>;
  /** Shows the sign-in form again. */
  readonly startAgain: (context: RequestContext, request: T, shown: Shown) => void;
  /** Continues with all factors that the user needs. */
  readonly complete: (context: RequestContext, pending: PendingSignIn<T>) => Promise<void>;
}

const FORM = new FormDecoder(FactorFormSchema);
/** Validity of the form. */
const FACTOR_MS = 5 * 60_000;
const WRONG: Alert = { text: 'This code is wrong, or was already used.', field: 'code' };
const PASSKEY_ONLY = 'A password alone is not enough. Sign in with your passkey.';
const TOO_LATE =
  'Your account needs a second factor, and the time to add one is over. Ask an administrator of this platform for a one-time code.';

export class SecondFactorStep<T> {
  readonly #options: SecondFactorStepOptions<T>;
  readonly #tickets: FormTickets<PendingSignIn<T>>;
  readonly #enrolment: AppEnrolment<Enrolling<T>>;

  constructor(options: SecondFactorStepOptions<T>) {
    this.#options = options;
    this.#tickets = new FormTickets(`second factor ${options.action}`, FACTOR_MS, options);
    this.#enrolment = new AppEnrolment({
      ...options,
      redirectsToClient: (pending) => this.#redirectsToClient(pending),
      enrolled: (context, pending) => this.#proven(context, pending, TOTP_METHODS),
      startAgain: (context, pending, alert) => this.#startAgain(context, pending, alert),
      cancelled: (context, { request }) => options.continuation.cancelled(context, request),
    });
  }

  /** Continues the sign-in, or writes the page that asks for the factor that is missing. */
  async next(context: RequestContext, pending: PendingSignIn<T>): Promise<void> {
    const { factorPolicy, complete } = this.#options;
    const { account, authentication } = pending;
    if (!factorPolicy.lacksFactor(account, authentication)) return complete(context, pending);
    if (factorPolicy.hasFactor(account)) {
      const { totp, recoveryCodes } = this.#options.secondFactor.of(account);
      if (totp || recoveryCodes.length > 0) return this.#show(context, pending);
      return this.#startAgain(context, pending, { text: PASSKEY_ONLY });
    }
    if (factorPolicy.canEnrol(account))
      return this.#enrolment.show(context, { ...pending, right: { kind: 'first' } });
    context.log.info({ user: account.name }, 'sign-in rejected: the user has no second factor');
    return this.#startAgain(context, pending, { text: TOO_LATE });
  }

  /** False for another form. */
  async submitted(context: RequestContext, form: Form): Promise<boolean> {
    const ticket = this.#tickets.open(form.get('ticket') ?? '', browserIDIn(context.request) ?? '');
    if (!ticket) return this.#enrolment.submitted(context, form);
    const { content: pending, rejection } = ticket;
    const { continuation } = this.#options;
    const { decision, method, code = '', with: used = 'app' } = FORM.decode(form);
    if (decision === 'cancel') await continuation.cancelled(context, pending.request);
    else if (rejection !== undefined) this.#startAgain(context, pending, TICKET_ALERTS[rejection]);
    else if (method !== undefined) this.#show(context, pending, method);
    else if (code === '') this.#show(context, pending, used, { text: 'Enter a code.', field: 'code' });
    else await this.#check(context, pending, used, code);
    return true;
  }

  async #check(
    context: RequestContext,
    pending: PendingSignIn<T>,
    used: 'app' | 'recovery',
    code: string,
  ): Promise<void> {
    const { continuation, secondFactor, originOf } = this.#options;
    const { client } = continuation.describe(pending.request);
    const origin = originOf(context);
    let verdict: CodeVerdict;
    try {
      verdict = await secondFactor.check(pending.account, code, {
        ...origin,
        client: client?.id ?? '',
        requestID: context.auditID,
      });
    } catch (error) {
      const rejected = rejection(error, WRONG);
      if (!rejected) throw error;
      const alert = { ...rejected.alert, field: 'code' };
      return this.#show(context, pending, used, alert, rejected.options);
    }
    if (verdict.outcome === 'accepted') return this.#proven(context, pending, verdict.amr);
    if (verdict.outcome === 'replace') {
      const right = { kind: 'one-time code', hash: verdict.hash } as const;
      return this.#enrolment.show(context, { ...pending, right });
    }
    return this.#show(context, pending, used, WRONG);
  }

  #proven(context: RequestContext, pending: PendingSignIn<T>, methods: readonly string[]): Promise<void> {
    const { request, account, authentication, replaces } = pending;
    const amr = [...new Set([...authentication.amr, ...methods])];
    return this.#options.complete(context, {
      request,
      account,
      authentication: { ...authentication, amr },
      replaces,
    });
  }

  #show(
    { request, response }: RequestContext,
    pending: PendingSignIn<T>,
    asked?: 'app' | 'recovery',
    alert?: Alert,
    options: PageOptions = {},
  ): void {
    const { action, texts, secondFactor } = this.#options;
    const { totp } = secondFactor.of(pending.account);
    const page = codePage({
      platformName: texts.platformName,
      action,
      ticket: this.#tickets.seal(pending, browserOf(request).id),
      user: pending.account.name,
      // A code of the app first, because a recovery code is used up.
      method: totp ? (asked ?? 'app') : 'recovery',
      hasOther: totp !== undefined,
      alert,
    });
    writePage(response, page, {
      ...(alert ? { status: 400 } : {}),
      ...options,
      redirectsToClient: this.#redirectsToClient(pending),
    });
  }

  #startAgain(context: RequestContext, { request, account }: PendingSignIn<T>, alert: Alert): void {
    this.#options.startAgain(context, request, { user: account.name, alert });
  }

  #redirectsToClient({ request }: PendingSignIn<T>): boolean {
    return this.#options.continuation.describe(request).destination !== undefined;
  }
}
