// Creates the OAuth endpoints for browsers: authorization page, device page, account page, sign-in
// forms and style sheet.
import type { Router } from 'express';
import type { Logger } from 'pino';
import { endpoint, type Middleware, newRouter, redirectFromSlash } from '../../../http/endpoint.ts';
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { AuthorizationCodes } from '../../codes/authorization-code.ts';
import { DeviceRequests, type DeviceRequestsOptions } from '../../codes/device-requests.ts';
import type { AuthenticatorsStore } from '../../factors/authenticators-store.ts';
import { PasskeySignIn, type PasskeySignInOptions } from '../../factors/passkey-sign-in.ts';
import { only } from '../../http/oauth-response.ts';
import { ACCOUNT_PATH } from '../../page/account-sections.ts';
import { styleHandler } from '../../page/page.ts';
import { OwnPasswordChange } from '../../passwords/own-password-change.ts';
import type { PasswordHasher } from '../../passwords/password-hasher.ts';
import type { SessionStore } from '../../sessions/session.ts';
import type { SessionValidity } from '../../sessions/session-validity.ts';
import { UserSessions } from '../../sessions/user-sessions.ts';
import type { CredentialStore } from '../../users/account.ts';
import type { IDTokenHints } from '../presented-tokens.ts';
import type { PushedRequests } from '../pushed-requests.ts';
import { AccountChoice } from './account-choice.ts';
import { AccountFactors, type AccountFactorsOptions } from './account-factors.ts';
import { AccountHandlers, type AccountHandlersOptions } from './account-handlers.ts';
import { AccountIdentities, type AccountIdentitiesOptions } from './account-identities.ts';
import { AccountPassword } from './account-password.ts';
import { AccountSessions } from './account-sessions.ts';
import { accountContinuation } from './account-visit.ts';
import { authorizeHandler, codeContinuation } from './authorize.ts';
import { browserHandler, PageError, startAgain } from './browser-handler.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import type { Continuation } from './continuation.ts';
import {
  DEVICE_PATH,
  deviceAuthorizationHandler,
  deviceContinuation,
  devicePageHandler,
  newUserCodeThrottle,
} from './device.ts';
import { DirectoryLinks, type DirectoryLinksOptions } from './directory-links.ts';
import { kubeconfigHandler } from './kubeconfig-download.ts';
import { CALLBACK_PATH, ProviderRedirects, type ProviderRedirectsOptions } from './provider-redirects.ts';
import { SignInForms, type SignInFormsOptions } from './sign-in.ts';

export interface PagesOptions
  extends Omit<
      SignInFormsOptions<unknown>,
      | 'action'
      | 'passwordChange'
      | 'continuation'
      | 'browsers'
      | 'redirects'
      | 'passkeys'
      | 'authenticators'
      | 'factorPolicy'
    >,
    ProviderRedirectsOptions,
    Pick<AccountHandlersOptions, 'kubeconfig' | 'upstreamSignOut'>,
    Pick<DirectoryLinksOptions, 'directories' | 'throttle'>,
    Omit<PasskeySignInOptions, 'platformName' | 'links' | 'authenticators'>,
    DeviceRequestsOptions {
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'all' | 'update'>;
  readonly browsers: BrowserSessions;
  readonly factorPolicy: SignInFormsOptions<unknown>['factorPolicy'] & AccountFactorsOptions['factorPolicy'];
  readonly links: AccountIdentitiesOptions['links'] &
    DirectoryLinksOptions['links'] &
    AccountFactorsOptions['links'] &
    PasskeySignInOptions['links'];
  readonly sessions: SessionStore;
  readonly validity: Pick<SessionValidity, 'end' | 'signInEnd'>;
  readonly credentials: CredentialStore;
  readonly hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
  readonly clients: ClientRegistry;
  readonly hints: Pick<IDTokenHints, 'read'>;
  readonly pushed: Pick<PushedRequests, 'open'>;
  readonly log: Pick<Logger, 'warn'>;
}

const NEW_FACTOR_PATH = `${ACCOUNT_PATH}/second-factor/new`;
const IDENTITIES_PATH = `${ACCOUNT_PATH}/identities`;

/** The endpoints under `/oauth` and `/account`. */
export function newPages(options: PagesOptions): Router {
  const userSessions = new UserSessions(options.sessions, options.log);
  const passwordChange = new OwnPasswordChange({ ...options, userSessions });
  const { browsers } = options;
  const passkeys = new PasskeySignIn({ ...options, platformName: options.texts.platformName });
  const requests = new DeviceRequests(options);
  const redirects = new ProviderRedirects(options);
  /** Continues the form with this path. */
  const returns = new Map<string, AccountHandlers['returned']>();
  const router = newRouter();
  router.use(ACCOUNT_PATH, withoutOpener);
  // HEAD must be safe: a GET can issue a code, use one up, and extend the browser session.
  const get = (path: string, handler: Handler): void => {
    router.route(path).head(only('GET')).get(endpoint(handler)).all(startAgain('GET', options));
  };
  const post = (path: string, handler: Handler): void => {
    router.route(path).post(endpoint(handler)).all(startAgain('POST', options));
  };
  /** The forms for requests of one kind. */
  const formsFor = <T>(path: string, continuation: Continuation<T>) => {
    const action = `${path}/sign-in`;
    const shared = { ...options, browsers, passkeys, passwordChange, redirects, continuation };
    const forms = new SignInForms({ ...shared, action });
    returns.set(action, (context, returning) => forms.returned(context, returning));
    const choice = new AccountChoice({ ...shared, forms, action: `${path}/choice` });
    post(action, forms.handler);
    post(`${path}/choice`, choice.handler);
    return { browsers, forms, choice };
  };
  const codes = formsFor('/oauth', codeContinuation({ ...options, codes: new AuthorizationCodes(options) }));
  const devices = formsFor(DEVICE_PATH, deviceContinuation({ ...options, requests }));
  const throttle = newUserCodeThrottle(options);
  const authorize = endpoint(authorizeHandler({ ...options, ...codes }));
  const authorizeDevice = deviceAuthorizationHandler({ ...options, requests });
  router
    .route('/oauth/authorize')
    .head(only('GET, POST'))
    .get(authorize)
    .post(authorize)
    .all(startAgain('GET, POST', options));
  router.route('/oauth/device_authorization').post(endpoint(authorizeDevice)).all(only('POST'));
  get(DEVICE_PATH, devicePageHandler({ ...options, ...devices, requests, throttle }));
  redirectFromSlash(router, DEVICE_PATH);
  router.route('/oauth/page.css').get(endpoint(styleHandler())).all(only('GET, HEAD'));

  const accounts = formsFor(ACCOUNT_PATH, accountContinuation);
  const accountFactors = new AccountFactors({ ...options, browsers, passkeys, action: NEW_FACTOR_PATH });
  const accountOptions = {
    ...options,
    ...accounts,
    accountPassword: new AccountPassword({ ...options, browsers, passwordChange }),
    accountSessions: new AccountSessions({ ...options, browsers }),
    accountIdentities: new AccountIdentities({ ...options, browsers, redirects, action: IDENTITIES_PATH }),
    directoryLinks: new DirectoryLinks({ ...options, action: IDENTITIES_PATH }),
    accountFactors,
  };
  const account = new AccountHandlers(accountOptions);
  returns.set(IDENTITIES_PATH, (context, returning) => account.returned(context, returning));
  get(ACCOUNT_PATH, account.page);
  redirectFromSlash(router, ACCOUNT_PATH);
  get(`${ACCOUNT_PATH}/switch`, account.switch);
  get(`${ACCOUNT_PATH}/kubeconfig`, kubeconfigHandler(accountOptions));
  post(`${ACCOUNT_PATH}/password`, account.password);
  post(`${ACCOUNT_PATH}/sessions`, account.sessions);
  post(IDENTITIES_PATH, account.identities);
  post(`${ACCOUNT_PATH}/second-factor`, account.secondFactor);
  post(NEW_FACTOR_PATH, accountFactors.handler);
  post(`${ACCOUNT_PATH}/passkeys`, account.passkeys);

  const callback = browserHandler(options, async (context) => {
    const provider = context.info.path.slice(CALLBACK_PATH.length);
    const returning = await redirects.returning(context, provider);
    const continued = returning && returns.get(returning.action);
    if (!continued) throw strayCallback();
    return continued(context, returning);
  });
  get(`${CALLBACK_PATH}:provider`, callback);
  return router;
}

/**
 * A page of another site that has opened the account page keeps no reference to its window. Not under `/oauth`: programs open the
 * sign-in in a pop-up, whose last page is theirs and needs its opener.
 */
const withoutOpener: Middleware = (_request, response, next) => {
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  next();
};

function strayCallback(): PageError {
  return new PageError(
    403,
    'Start again',
    'This sign-in did not begin in this browser. Go back to where you began, and try again.',
  );
}
