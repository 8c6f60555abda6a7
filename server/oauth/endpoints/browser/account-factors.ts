// The authenticator app and the recovery codes of the user of the account page, and the pages that add an app or a passkey. These pages
// name the browser session and its user, and both must still be signed in.
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { SourceAddress } from '../../../request/source-address.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import { passkeyMethods } from '../../factors/passkeys.ts';
import { TOTP_METHODS } from '../../factors/second-factor.ts';
import { redirect } from '../../page/page.ts';
import type { ListedFactors } from '../../page/second-factor-section.ts';
import { type Authentication, MULTIPLE_FACTORS, withMethods } from '../../sessions/proof.ts';
import { accountURL, holderOf } from './account-visit.ts';
import { type BrowserHandlerOptions, browserHandler } from './browser-handler.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import { type Enrolling, FactorEnrolment, type FactorEnrolmentOptions } from './factor-enrolment.ts';
import { forged, readOwnForm } from './form-rejections.ts';
import { originOf } from './sign-in.ts';

interface AccountEnrolling extends Enrolling {
  readonly session: string;
  readonly right: { readonly kind: 'session'; readonly authentication: Authentication };
}

export interface AccountFactorsOptions
  extends BrowserHandlerOptions,
    Pick<
      FactorEnrolmentOptions<AccountEnrolling>,
      'keys' | 'now' | 'action' | 'texts' | 'authenticators' | 'secrets' | 'passkeys'
    > {
  readonly factorPolicy: Pick<FactorPolicy, 'isRequired' | 'lacksFactor'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'use' | 'begin'>;
  readonly sourceOf: SourceAddress;
}

export class AccountFactors {
  /** The forms of the pages that add an app, a passkey or recovery codes. */
  readonly handler: Handler;
  readonly #options: AccountFactorsOptions;
  readonly #enrolment: FactorEnrolment<AccountEnrolling>;

  constructor(options: AccountFactorsOptions) {
    this.#options = options;
    const back = ({ response }: RequestContext, { account }: AccountEnrolling): void =>
      redirect(response, accountURL(account.name));
    this.#enrolment = new FactorEnrolment({
      ...options,
      redirectsToClient: () => false,
      isPermitted: async (context, { session, account }) => {
        const by = await holderOf(session, options.browsers, context);
        return by?.account.uid === account.uid;
      },
      enrolled: async (context, pending, { app, passkey }) => {
        const { amr } = pending.right.authentication;
        if (app) await this.#proven(context, pending, TOTP_METHODS);
        else if (passkey && !amr.includes(MULTIPLE_FACTORS))
          await this.#proven(context, pending, passkeyMethods(passkey));
        const added = passkey ? 'passkey' : 'codes';
        redirect(context.response, accountURL(pending.account.name, app ? 'app' : added));
      },
      startAgain: back,
      cancelled: back,
    });
    this.handler = browserHandler(options, async (context) => {
      if (!(await this.#enrolment.submitted(context, await readOwnForm(context)))) throw forged();
    });
  }

  list({ account }: BrowserSession): ListedFactors {
    const { totp, passkeys, recoveryCodes } = this.#options.authenticators.of(account);
    return {
      appAddedAt: totp && Date.parse(totp.addedTime),
      recoveryCodes: totp || passkeys.length > 0 ? recoveryCodes.length : undefined,
    };
  }

  /** Shows the page that adds an app, in the place of an earlier one. */
  add(context: RequestContext, by: BrowserSession): Promise<void> {
    return this.#enrolment.showApp(context, enrolling(by));
  }

  addPasskey(context: RequestContext, by: BrowserSession): Promise<void> {
    return this.#enrolment.showPasskey(context, enrolling(by));
  }

  /** Shows new recovery codes, in the place of all earlier ones. */
  renewCodes(context: RequestContext, by: BrowserSession): void {
    this.#enrolment.showCodes(context, enrolling(by));
  }

  /** Without any other factor, the recovery codes are removed too. False if the configuration requires a factor. */
  async remove({ log, signal }: RequestContext, by: BrowserSession): Promise<boolean> {
    const { authenticators, factorPolicy } = this.#options;
    const { account, authentication } = by;
    const isRequired = factorPolicy.isRequired(account, authentication.proof);
    let isLast = false;
    const changed = await authenticators.update(
      account,
      (current) => {
        const { passkeys, recoveryCodes } = current;
        isLast = passkeys.length === 0;
        // The factors of another replica may be newer than the session.
        if ((isLast && isRequired) || factorPolicy.lacksFactor(account, authentication, current))
          return undefined;
        return { passkeys, recoveryCodes: isLast ? [] : recoveryCodes };
      },
      signal,
    );
    if (isLast && isRequired) return false;
    if (changed) log.info({ user: account.name }, 'authenticator app removed on the account page');
    return true;
  }

  /** The user has just used the new factor. Without it, sessions of a user with a factor end. */
  async #proven(
    context: RequestContext,
    { account, right: { authentication } }: AccountEnrolling,
    methods: readonly string[],
  ): Promise<void> {
    const { browsers, sourceOf } = this.#options;
    const proven = withMethods(authentication, methods);
    const origin = originOf(context.request, sourceOf);
    await browsers.begin(context, { account, authentication: proven, ...origin });
  }
}

function enrolling({ session, account, authentication }: BrowserSession): AccountEnrolling {
  const { name, uid, displayName } = account;
  return {
    session: session.id,
    account: { name, uid, displayName },
    right: { kind: 'session', authentication },
  };
}
