// Authorization endpoint (RFC 6749, 3.1; RFC 9207; OpenID Connect Core, 3.1.2). A user who is signed in continues without
// a password, and mostly without a page.
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry, OAuthClient } from '../../clients/oauth-client.ts';
import type { AuthorizationCodes } from '../../codes/authorization-code.ts';
import {
  AuthorizationError,
  type AuthorizationRequest,
  authorizationRequest,
} from '../../codes/authorization-request.ts';
import { displayHost, isRegistered, reachesOnlyClient } from '../../codes/redirect-target.ts';
import { asQuery, readForm } from '../../http/form.ts';
import { redirect } from '../../page/page.ts';
import { meetsAcr, PASSWORD_ONLY } from '../../sessions/proof.ts';
import type { UserID } from '../../users/account.ts';
import { SCOPE_OF } from '../../users/user-claims.ts';
import type { IDTokenHints } from '../presented-tokens.ts';
import type { PushedRequests } from '../pushed-requests.ts';
import type { AccountChoice } from './account-choice.ts';
import {
  type BrowserHandlerOptions,
  browserHandler,
  PageError,
  redirectToClient,
} from './browser-handler.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import type { Continuation } from './continuation.ts';
import type { SignInForms } from './sign-in.ts';

interface AuthorizeOptions extends BrowserHandlerOptions {
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly pushed: Pick<PushedRequests, 'open'>;
  readonly hints: Pick<IDTokenHints, 'read'>;
  readonly browsers: Pick<BrowserSessions, 'of'>;
  readonly forms: Pick<SignInForms<AuthorizationRequest>, 'show'>;
  readonly choice: Pick<AccountChoice<AuthorizationRequest>, 'accepts' | 'show' | 'continueAs'>;
}

/**
 * GET and POST (OpenID Connect Core, 3.1.2.1). A POST of another site has no cookies (SameSite), so the browser is sent to the
 * same request with GET.
 */
export function authorizeHandler(options: AuthorizeOptions): Handler {
  const { clients, pushed, hints, browsers, forms, choice } = options;
  return browserHandler(options, async (context) => {
    const form = await readForm(context.request);
    const asking = form.has('request_uri') ? await pushed.open(form) : form;
    const { hint, loginHint = '', prompts, ...asked } = authorizationRequest(asking, clients);
    if (context.request.method === 'POST')
      return redirect(context.response, `/oauth/authorize?${asQuery(form)}`);
    const hinted = hint === undefined ? undefined : await hints.read(hint);
    if (hint !== undefined && hinted?.clientID !== asked.clientID) {
      throw new AuthorizationError(
        'invalid_request',
        'id_token_hint is not an ID token of the client',
        asked,
      );
    }
    if (hinted && asked.user !== undefined && asked.user !== hinted.user) {
      throw new AuthorizationError('login_required', 'id_token_hint and claims name different users', asked);
    }
    const request = {
      ...asked,
      ...(hinted ? { user: hinted.user, userUID: hinted.userUID } : {}),
      ...(prompts.includes('login') ? { maxAge: 0 } : {}),
    };
    const signedIn = await browsers.of(context);
    const { isPublic = true } = clients.get(request.clientID) ?? {};
    const confirmed = !reachesOnlyClient(request.redirectURI, isPublic, context.request.headers.host);
    const accepts = (by: BrowserSession): boolean => choice.accepts(request, by);
    const next = signOn({ ...request, prompts, loginHint, accepts, confirmed }, signedIn);
    if (next.step === 'continue' && (await choice.continueAs(context, request, next.as))) return;
    if (prompts.includes('none')) throw interactionRequired(next, confirmed, request);
    if (next.step === 'choose') return choice.show(context, request, next.among);
    const [only, ...others] = signedIn;
    const known = only && others.length === 0 ? only.account.name : '';
    forms.show(context, request, { user: request.user ?? (loginHint || known) });
  });
}

interface SignOnRequest {
  readonly prompts: readonly string[];
  readonly loginHint: string;
  /** `max_age`, in seconds. */
  readonly maxAge?: number;
  /** Whether this user is the one that the client expects, and was authenticated recently. */
  readonly accepts: (by: BrowserSession) => boolean;
  /** Whether every use of the client needs a confirmation. */
  readonly confirmed: boolean;
}

type SignOn =
  | { readonly step: 'continue'; readonly as: BrowserSession }
  | { readonly step: 'choose'; readonly among: readonly BrowserSession[] }
  | { readonly step: 'sign in' };

/** Whether the request is granted to a user who is signed in, or needs a page first (OpenID Connect Core, 3.1.2.1). */
function signOn(request: SignOnRequest, signedIn: readonly BrowserSession[]): SignOn {
  const { prompts, loginHint, maxAge, accepts, confirmed } = request;
  if (prompts.includes('login') || maxAge === 0) return { step: 'sign in' };
  const accepted = signedIn.filter(accepts);
  const hinted = accepted.filter(
    ({ account: { name, email } }) => loginHint !== '' && [name, email].includes(loginHint),
  );
  const [only, ...others] = hinted.length > 0 ? hinted : accepted;
  if (!only) return { step: 'sign in' };
  const asks = confirmed || prompts.includes('consent') || prompts.includes('select_account');
  return asks || others.length > 0 ? { step: 'choose', among: accepted } : { step: 'continue', as: only };
}

function interactionRequired(
  next: SignOn,
  confirmed: boolean,
  request: AuthorizationRequest,
): AuthorizationError {
  if (next.step !== 'choose')
    return new AuthorizationError('login_required', 'the user must sign in', request);
  return confirmed
    ? new AuthorizationError('interaction_required', 'the user must confirm the client', request)
    : new AuthorizationError('account_selection_required', 'the user must choose an account', request);
}

interface CodeContinuationOptions extends Pick<AuthorizeOptions, 'issuer' | 'clients'> {
  /** Ms since the epoch. */
  readonly now: () => number;
  readonly codes: Pick<AuthorizationCodes, 'issue'>;
}

/** The requested scopes, and those of the requested claims. */
function scopesOf({ scopes, claims }: AuthorizationRequest): readonly string[] {
  const { userinfo = [], idToken = [] } = claims ?? {};
  return [...new Set([...scopes, ...[...userinfo, ...idToken].map((claim) => SCOPE_OF[claim])])];
}

/** Whether the client expects this user, or any. */
function isExpected({ user, userUID }: AuthorizationRequest, { name, uid }: UserID): boolean {
  return (user === undefined || user === name) && (userUID === undefined || userUID === uid);
}

/** The continuation of an authorization request: redirects the browser to the client with a code. */
export function codeContinuation(options: CodeContinuationOptions): Continuation<AuthorizationRequest> {
  const { issuer, clients, codes, now } = options;
  // Checked again at each step, because the configuration may have changed since the request.
  const clientOf = ({ clientID, redirectURI }: AuthorizationRequest): OAuthClient => {
    const client = clients.get(clientID);
    if (client && isRegistered(redirectURI, client.redirectURIs)) return client;
    throw new PageError(
      400,
      'Sign-in cannot continue',
      'The program that sent you here is no longer registered.',
    );
  };
  return {
    describe: (request) => ({
      client: clientOf(request),
      scopes: scopesOf(request),
      destination: displayHost(request.redirectURI),
      again: request.maxAge !== undefined,
      withFactor: !meetsAcr(PASSWORD_ONLY, request.acr),
    }),
    accepts: (request, { account, authentication }) => {
      const { maxAge = Number.POSITIVE_INFINITY, acr } = request;
      return (
        isExpected(request, account) &&
        now() - authentication.authTime <= maxAge * 1000 &&
        meetsAcr(authentication.amr, acr)
      );
    },
    granted: (context, request, by) => {
      if (!isExpected(request, by.account)) {
        throw new AuthorizationError('login_required', 'another user has signed in', request);
      }
      if (!meetsAcr(by.authentication.amr, request.acr)) {
        const problem = 'the sign-in does not meet the requested acr';
        throw new AuthorizationError('unmet_authentication_requirements', problem, request);
      }
      const code = codes.issue({ ...by, request, client: clientOf(request) });
      redirectToClient(context, request, issuer(), { code });
    },
    cancelled: (_context, request) => {
      clientOf(request);
      throw new AuthorizationError('access_denied', 'the user did not sign in', request);
    },
  };
}
