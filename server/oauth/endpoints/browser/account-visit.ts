// A visit of the account page: where the browser continues after a sign-in for it or after an action, and the notice that it shows.
import type { RequestContext } from '../../../request/request-context.ts';
import { ACCOUNT_PATH } from '../../page/account-sections.ts';
import { messagePage, redirect, writePage } from '../../page/page.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import type { Continuation } from './continuation.ts';

/** A visit of the account page, for which the user signs in. */
export type AccountVisit = typeof ACCOUNT_PATH | typeof STEP_UP;

/** A visit for which the user must authenticate again, with all factors. */
export const STEP_UP = 'step-up';

/** Shown after the action of this name. */
export const NOTICES = {
  password: 'Your password is changed. All other browsers and programs are signed out.',
  session: 'Signed out.',
  others: 'All other browsers and programs are signed out.',
  passkey: 'The passkey is added. Try it at the next sign-in.',
  app: 'The authenticator app is added. Browsers and programs that signed in without it are signed out.',
  'app-removed':
    'The authenticator app is removed. If you have lost it, choose “Sign out everywhere else”, too.',
  codes: 'You have new recovery codes. The earlier ones are not valid any more.',
  'passkey-renamed': 'The passkey has a new name.',
  'passkey-removed':
    'The passkey is removed. Sessions that began with it alone are signed out. If you have lost it, choose “Sign out everywhere else”, too.',
  nothing: 'Nothing was changed, because the page was out of date. Please try again.',
  unlinked: 'The account is unlinked. Sessions that began with it are signed out.',
} as const;

/** The continuation of a visit: the account page of the user who has signed in. */
export const accountContinuation: Continuation<AccountVisit> = {
  describe: (visit) => ({
    client: undefined,
    scopes: [],
    destination: undefined,
    again: visit === STEP_UP,
    withFactor: visit === STEP_UP,
  }),
  accepts: () => true,
  granted: async ({ response }, _visit, { account }) => redirect(response, accountURL(account.name)),
  cancelled: ({ response }) => writePage(response, messagePage('Not signed in', 'You can close this page.')),
};

export function accountURL(user: string, done?: keyof typeof NOTICES): string {
  const query = new URLSearchParams({ user, ...(done === undefined ? {} : { done }) });
  return `${ACCOUNT_PATH}?${query.toString()}`;
}

/** The user of the browser session that a form of the account page names, if the identity provider confirms the person. */
export async function holderOf(
  session: string,
  browsers: Pick<BrowserSessions, 'of' | 'use'>,
  context: RequestContext,
): Promise<BrowserSession | undefined> {
  const signedIn = await browsers.of(context);
  const found = signedIn.find((each) => each.session.id === session);
  return found && browsers.use(found, context);
}
