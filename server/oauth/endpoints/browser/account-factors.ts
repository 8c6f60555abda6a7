// The passkeys, the authenticator app and the recovery codes of the user of the account page: lists, adds and removes them. The pages that
// add them name the browser session and its user, and both must still be signed in.
import { MAX_PASSKEYS } from '../../../../apis/iam/v1beta1/authenticators-resource.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { originOf, type SourceAddress } from '../../../request/source-address.ts';
import { type Factors, NO_FACTORS } from '../../factors/authenticators-store.ts';
import { type EnrolmentRight, versionOf } from '../../factors/enrolment.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import { passkeyMethods, passkeyName } from '../../factors/passkeys.ts';
import { TOTP_METHODS } from '../../factors/second-factor.ts';
import { redirect } from '../../page/page.ts';
import type { PasskeysView } from '../../page/passkey-pages.ts';
import type { ListedFactors } from '../../page/second-factor-section.ts';
import type { AccountLinks } from '../../providers/account-links.ts';
import { MULTIPLE_FACTORS, withMethods } from '../../sessions/proof.ts';
import type { SessionStore } from '../../sessions/session.ts';
import { endSessionsOf, type WayChange } from './account-sessions.ts';
import { accountURL, holderOf } from './account-visit.ts';
import { type BrowserHandlerOptions, browserHandler, forged, readOwnForm } from './browser-handler.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import {
  CHANGED_MEANWHILE,
  type Enrolling,
  FactorEnrolment,
  type FactorEnrolmentOptions,
  NO_NAME,
  VISIBLE,
} from './factor-enrolment.ts';

interface AccountEnrolling extends Enrolling {
  readonly session: string;
  readonly right: Extract<EnrolmentRight, { readonly kind: 'session' }>;
}

export interface AccountFactorsOptions
  extends BrowserHandlerOptions,
    Pick<
      FactorEnrolmentOptions<AccountEnrolling>,
      'keys' | 'now' | 'action' | 'texts' | 'authenticators' | 'secrets' | 'passkeys'
    > {
  readonly factorPolicy: Pick<FactorPolicy, 'isRequired' | 'lacksFactor'>;
  readonly links: Pick<AccountLinks, 'canSignIn'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'use' | 'begin' | 'end'>;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
  readonly sourceOf: SourceAddress;
}

const NO_HOST_NAME =
  'This server has no passkeys: they need a host name, and the address of this server is an IP address.';
const TOO_MANY = `You have ${MAX_PASSKEYS} passkeys. Remove one before you add another.`;
const LAST_WAY = 'You could not sign in without this passkey. Add another one first.';
const LAST_FACTOR = 'Your account needs a second factor. Replace this one, or add another one first.';

export class AccountFactors {
  /** The forms of the pages that add an app, a passkey or recovery codes. */
  readonly handler: Handler;
  readonly #options: AccountFactorsOptions;
  readonly #enrolment: FactorEnrolment<AccountEnrolling>;

  constructor(options: AccountFactorsOptions) {
    this.#options = options;
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
      startAgain: ({ response }, { account }) => redirect(response, accountURL(account.name, 'nothing')),
      cancelled: ({ response }, { account }) => redirect(response, accountURL(account.name)),
    });
    this.handler = browserHandler(options, async (context) => {
      if (!(await this.#enrolment.submitted(context, await readOwnForm(context)))) throw forged();
    });
  }

  list({ account }: BrowserSession): ListedFactors & PasskeysView {
    const { totp, passkeys, recoveryCodes } = this.#options.authenticators.of(account);
    return {
      appAddedAt: totp && Date.parse(totp.addedTime),
      recoveryCodes: totp || passkeys.length > 0 ? recoveryCodes.length : undefined,
      passkeys: passkeys.map(({ id, name, backedUp, addedTime, lastUsedTime }) => ({
        id,
        name,
        backedUp,
        addedAt: Date.parse(addedTime),
        lastUsedAt: lastUsedTime === undefined ? undefined : Date.parse(lastUsedTime),
      })),
      passkeyProblem: this.#passkeyProblem(passkeys.length),
    };
  }

  /** Why the user cannot add a passkey. */
  #passkeyProblem(count: number): string | undefined {
    if (!this.#options.passkeys.relyingParty) return NO_HOST_NAME;
    return count >= MAX_PASSKEYS ? TOO_MANY : undefined;
  }

  /** Shows the page that adds an app, in the place of an earlier one. */
  add(context: RequestContext, by: BrowserSession): Promise<void> {
    return this.#enrolment.showApp(context, this.#enrolling(by));
  }

  /** Shows the page that adds a passkey, or the account page with the reason why the user cannot add one. */
  async addPasskey(context: RequestContext, by: BrowserSession): Promise<void> {
    if (this.list(by).passkeyProblem === undefined)
      await this.#enrolment.showPasskey(context, this.#enrolling(by));
    else redirect(context.response, accountURL(by.account.name));
  }

  /** Shows new recovery codes, in the place of all earlier ones. */
  renewCodes(context: RequestContext, by: BrowserSession): void {
    this.#enrolment.showCodes(context, this.#enrolling(by));
  }

  /** Without any other factor, the recovery codes are removed too. */
  removeApp(context: RequestContext, by: BrowserSession): Promise<WayChange> {
    return this.#change(
      context,
      by,
      { done: 'authenticator app removed' },
      ({ passkeys, recoveryCodes }) => ({
        passkeys,
        recoveryCodes,
      }),
    );
  }

  async renamePasskey(
    context: RequestContext,
    by: BrowserSession,
    passkey: string,
    typed: string,
  ): Promise<WayChange> {
    const name = passkeyName(typed);
    if (!VISIBLE.test(typed)) return { refusal: NO_NAME };
    const renaming = { done: 'passkey renamed', passkey, otherwise: CHANGED_MEANWHILE.text };
    return this.#change(context, by, renaming, (current) => ({
      ...current,
      passkeys: current.passkeys.map((each) => (each.id === passkey ? { ...each, name } : each)),
    }));
  }

  /** Ends the sessions that began with the passkey, too, also if another tab has removed it. Throws 503 unless all of this is done. */
  async removePasskey(context: RequestContext, by: BrowserSession, passkey: string): Promise<WayChange> {
    const change = await this.#change(context, by, { done: 'passkey removed', passkey }, (current) => ({
      ...current,
      passkeys: current.passkeys.filter(({ id }) => id !== passkey),
    }));
    if (change !== 'done') return change;
    return endSessionsOf(context, by, 'passkey removed', this.#options, (proof) => {
      return proof.kind === 'passkey' && proof.id === passkey;
    });
  }

  /** `done`: for the log. `otherwise`: refusal of a change that has no effect, because another tab has changed the factors. */
  async #change(
    { signal, log }: RequestContext,
    { account, authentication }: BrowserSession,
    {
      done,
      passkey,
      otherwise,
    }: { readonly done: string; readonly passkey?: string; readonly otherwise?: string },
    change: (current: Factors) => Factors,
  ): Promise<WayChange> {
    const { authenticators, links, factorPolicy } = this.#options;
    const hasOtherWay = links.canSignIn(account);
    const isRequired = factorPolicy.isRequired(account, authentication.proof);
    let refusal: string | undefined;
    let isChanged = false;
    await authenticators.update(
      account,
      (current) => {
        const kept = change(current);
        const isRemoved = kept.passkeys.length < current.passkeys.length || kept.totp !== current.totp;
        const isRenamed = kept.passkeys.some((each) => !current.passkeys.includes(each));
        const isLastPasskey = kept.passkeys.length === 0 && current.passkeys.length > 0;
        const hasFactor = kept.passkeys.length > 0 || kept.totp !== undefined;
        refusal = undefined;
        isChanged = isRemoved || isRenamed;
        // The factors of another replica may be newer than the session.
        if (factorPolicy.lacksFactor(account, authentication, current)) refusal = CHANGED_MEANWHILE.text;
        else if (!isChanged) refusal = otherwise;
        else if (isLastPasskey && !hasOtherWay) refusal = LAST_WAY;
        else if (isRemoved && !hasFactor && isRequired) refusal = LAST_FACTOR;
        if (refusal !== undefined || !isChanged) return undefined;
        // Recovery codes replace a factor, so none is needed without one.
        return hasFactor ? kept : NO_FACTORS;
      },
      signal,
    );
    if (refusal !== undefined) return { refusal };
    if (isChanged) log.info({ user: account.name, passkey }, `${done} on the account page`);
    return 'done';
  }

  #enrolling({ session, account, authentication }: BrowserSession): AccountEnrolling {
    const { name, uid, displayName } = account;
    const version = versionOf(this.#options.authenticators.of(account));
    return {
      session: session.id,
      account: { name, uid, displayName },
      right: { kind: 'session', authentication, version },
    };
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
