// The passkeys of the user of the account page: lists and removes them. account-factors.ts adds them.
import { MAX_PASSKEYS } from '../../../../apis/iam/v1beta1/authenticators-resource.ts';
import type { RequestContext } from '../../../request/request-context.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import type { FactorPolicy } from '../../factors/factor-policy.ts';
import type { PasskeySignIn } from '../../factors/passkey-sign-in.ts';
import type { ListedPasskey } from '../../page/passkey-pages.ts';
import type { AccountLinks } from '../../providers/account-links.ts';
import type { SessionStore } from '../../sessions/session.ts';
import type { CredentialDirectory } from '../../users/account.ts';
import { endSessionsOf } from './account-sessions.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';

export interface AccountPasskeysOptions {
  readonly passkeys: Pick<PasskeySignIn, 'relyingParty'>;
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'update'>;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  readonly links: Pick<AccountLinks, 'of'>;
  readonly browsers: Pick<BrowserSessions, 'end'>;
  readonly factorPolicy: Pick<FactorPolicy, 'isRequired' | 'lacksFactor'>;
  readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
}

export type PasskeyRemoval =
  | 'passkey-removed'
  | 'signed out'
  /** The reason, for the user. */
  | { readonly refusal: string };

const NO_HOST_NAME =
  'This server has no passkeys: they need a host name, and the address of this server is an IP address.';
const TOO_MANY = `You have ${MAX_PASSKEYS} passkeys. Remove one before you add another.`;
const LAST_WAY = { refusal: 'You could not sign in without this passkey. Add another one first.' };
const LAST_FACTOR = { refusal: 'Your account needs a second factor. Add another one first.' };

export class AccountPasskeys {
  readonly #options: AccountPasskeysOptions;

  constructor(options: AccountPasskeysOptions) {
    this.#options = options;
  }

  list({ account }: BrowserSession): readonly ListedPasskey[] {
    return this.#options.authenticators.of(account).passkeys.map(({ id, name, backedUp, ...times }) => ({
      id,
      name,
      backedUp,
      addedAt: Date.parse(times.addedTime),
      lastUsedAt: times.lastUsedTime === undefined ? undefined : Date.parse(times.lastUsedTime),
    }));
  }

  /** Why the user cannot add a passkey. */
  problem({ account }: BrowserSession): string | undefined {
    const { passkeys, authenticators } = this.#options;
    if (!passkeys.relyingParty) return NO_HOST_NAME;
    return authenticators.of(account).passkeys.length >= MAX_PASSKEYS ? TOO_MANY : undefined;
  }

  /** Removes a passkey, and ends the sessions that began with it. Throws 503 unless all of this is done. */
  async remove(context: RequestContext, by: BrowserSession, passkey: string): Promise<PasskeyRemoval> {
    const { authenticators, credentials, links, factorPolicy } = this.#options;
    const { account } = by;
    const { log, signal } = context;
    const hasPassword = credentials.get(account.name)?.userUID === account.uid;
    const hasOtherWay = hasPassword || links.of(account).length > 0;
    const isRequired = factorPolicy.isRequired(account, by.authentication.proof);
    let rejected: PasskeyRemoval | undefined;
    await authenticators.update(
      account,
      (factors) => {
        const kept = factors.passkeys.filter(({ id }) => id !== passkey);
        const isLast = kept.length === 0 && factors.passkeys.length > 0;
        const isLastFactor = isLast && factors.totp === undefined;
        rejected = undefined;
        // The factors of another replica may be newer than the session.
        if (factorPolicy.lacksFactor(account, by.authentication, factors)) return undefined;
        if (isLast && !hasOtherWay) rejected = LAST_WAY;
        else if (isLastFactor && isRequired) rejected = LAST_FACTOR;
        if (rejected !== undefined || kept.length === factors.passkeys.length) return undefined;
        // Recovery codes replace a factor, so none is needed without one.
        return { ...factors, passkeys: kept, ...(isLastFactor ? { recoveryCodes: [] } : {}) };
      },
      signal,
    );
    if (rejected !== undefined) return rejected;
    log.info({ user: account.name, passkey }, 'passkey removed on the account page');
    const isSignedOut = await endSessionsOf(context, by, 'passkey removed', this.#options, (proof) => {
      return proof.kind === 'passkey' && proof.id === passkey;
    });
    return isSignedOut ? 'signed out' : 'passkey-removed';
  }
}
