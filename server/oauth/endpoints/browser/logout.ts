// Logout endpoint (OpenID Connect RP-Initiated Logout): terminates the session of the token in the request, and the browser
// session that it began with. Without such a token, the user of a signed-in browser is asked, so that links on other
// sites cannot sign users out (CSRF).
import type { IncomingMessage } from 'node:http';
import { LogoutParametersSchema, SignOutFormSchema } from '../../../../apis/oauth/forms.ts';
import { invalidRequest } from '../../../../apis/oauth/oauth-error.ts';
import { acceptsHTML } from '../../../http/accept.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { ConfiguredClient } from '../../clients/oauth-client.ts';
import { withParameters } from '../../codes/redirect-target.ts';
import { asQuery, type Form, readForm } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import { writeJSON } from '../../http/oauth-response.ts';
import type { TicketOptions } from '../../keys/tickets.ts';
import { FormTickets, isCrossSite } from '../../page/form-tickets.ts';
import { messagePage, redirect, writePage } from '../../page/page.ts';
import { signOutPage } from '../../page/sign-out-page.ts';
import type { SessionStore, StoredSession } from '../../sessions/session.ts';
import { bearerToken, type HintedSignIn, type IDTokenHints, type TokenOwner } from '../presented-tokens.ts';
import { type SessionTermination, terminateSession } from '../revoke.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';
import type { SignOutReturn, UpstreamSignOut } from './upstream-sign-out.ts';

interface LogoutOptions extends SessionTermination, TicketOptions {
  readonly hints: Pick<IDTokenHints, 'read' | 'readAccessToken'>;
  readonly clients: {
    get(id: string): Pick<ConfiguredClient, 'postLogoutRedirectURIs' | 'keepAfterSignOut'> | undefined;
  };
  readonly sessions: Pick<SessionStore, 'delete' | 'get' | 'read'>;
  readonly browsers: Pick<BrowserSessions, 'of' | 'end'>;
  readonly upstreamSignOut: Pick<UpstreamSignOut, 'isUsed' | 'begin'>;
  readonly texts: { readonly platformName: string };
}

/** Why the browser stays here although the request names an address to return to. */
const NO_RETURN = {
  unknownClient:
    'You cannot return to the program that sent you here, because its request has neither an id_token_hint nor a client_id.',
  unregistered: 'The address to return to is not registered for the program that sent you here.',
} as const;

interface Return extends SignOutReturn {
  readonly noReturn?: keyof typeof NO_RETURN;
}

const PATH = '/oauth/logout';
const PARAMETERS = new FormDecoder(LogoutParametersSchema);
const SIGN_OUT_FORM = new FormDecoder(SignOutFormSchema);
/** Validity of the question. */
const ASK_MS = 30 * 60_000;

/**
 * An access token in the Authorization header is accepted in place of a hint. Both are accepted when expired, because their
 * session may be valid. After an error there is no redirect (OpenID Connect RP-Initiated Logout, 4), because the client would believe that
 * the user is signed out.
 */
export function logoutHandler(options: LogoutOptions): Handler {
  const { browsers, upstreamSignOut } = options;
  const tickets = new FormTickets<Return>('sign-out', ASK_MS, options);
  const ask = (context: RequestContext, to: Return, signedIn: readonly BrowserSession[]): void => {
    const users = signedIn.map(({ account }) => account.name);
    const page = (ticket: string) => signOutPage({ ...options.texts, action: PATH, ticket }, users);
    const redirectsToClient = to.target !== undefined || upstreamSignOut.isUsed;
    tickets.show(context, to, page, { redirectsToClient });
  };
  const confirmed = async (context: RequestContext, form: Form): Promise<void> => {
    const ticket = tickets.submitted(context, form);
    if (!ticket || isCrossSite(context.request))
      throw invalidRequest('the form is not of a page of this server');
    const { content: to, rejection } = ticket;
    const signedIn = await browsers.of(context);
    if (rejection !== undefined && signedIn.length > 0) return ask(context, to, signedIn);
    if (SIGN_OUT_FORM.decode(form).decision === 'stay') {
      return writePage(context.response, messagePage('You are still signed in', 'You can close this page.'));
    }
    return end(context, to, signedIn);
  };
  const end = async (context: RequestContext, to: Return, ended: readonly BrowserSession[]) => {
    const sessions = ended.map(({ session }) => session);
    await browsers.end(context, sessions);
    if (await upstreamSignOut.begin(context, sessions, to)) return;
    return finish(context, to, 'Signed out');
  };
  return async (context) => {
    const { request } = context;
    const form = await readForm(request);
    if (request.method === 'POST' && form.get('ticket') !== undefined) return confirmed(context, form);
    const { to, owners } = await decode(form, request, options);
    const isProgram = !acceptsHTML(request.headers.accept);
    const before = upstreamSignOut.isUsed && !isProgram ? await browsers.of(context) : [];
    const ended = await endSessions(owners, context, options);
    if (ended) {
      const own = before.map(({ session }) => session).filter(({ id }) => ended.includes(id));
      if (await upstreamSignOut.begin(context, own, to)) return;
      return finish(context, to, 'Signed out');
    }
    if (isProgram && owners.length === 0 && to.target === undefined) {
      throw invalidRequest('the request has neither an access token nor an id_token_hint');
    }
    // A POST of another site has no cookies (SameSite).
    if (request.method === 'POST' && !isProgram)
      return redirect(context.response, `${PATH}?${asQuery(form)}`);
    const signedIn = await browsers.of(context);
    const own = signedIn.filter((each) => owners.some((owner) => began(owner, each, options)));
    if (own.length > 0) return end(context, to, own);
    if (signedIn.length > 0) return ask(context, to, signedIn);
    return finish(context, to, owners.length > 0 ? 'Signed out' : 'You are not signed in');
  };
}

async function decode(
  form: Form,
  request: IncomingMessage,
  { hints, clients }: LogoutOptions,
): Promise<{ readonly to: Return; readonly owners: readonly HintedSignIn[] }> {
  const parameters = PARAMETERS.decode(form);
  const { id_token_hint: hint, client_id: named, post_logout_redirect_uri: target, state } = parameters;
  const token = bearerToken(request);
  const bearer = token === undefined ? undefined : await hints.readAccessToken(token);
  const hinted = hint === undefined ? undefined : await hints.read(hint);
  if (hint !== undefined && !hinted) throw invalidRequest('id_token_hint is not an ID token of this server');
  if (named !== undefined && hinted && named !== hinted.clientID) {
    throw invalidRequest('the ID token was issued to another client');
  }
  const clientID = named ?? hinted?.clientID ?? '';
  const isRegistered = target !== undefined && clients.get(clientID)?.postLogoutRedirectURIs.includes(target);
  const noReturn = clientID === '' ? 'unknownClient' : 'unregistered';
  const elsewhere: Return = target === undefined ? {} : { noReturn };
  const to = isRegistered ? { target, ...(state === undefined ? {} : { state }) } : elsewhere;
  return { to, owners: [bearer, hinted].filter((owner) => owner !== undefined) };
}

/** Returns the ids of the browser sessions; undefined if no session was terminated. The browser session of a client that outlives it is not touched. */
async function endSessions(
  owners: readonly TokenOwner[],
  context: RequestContext,
  options: LogoutOptions,
): Promise<readonly string[] | undefined> {
  const { sessions, clients, browsers } = options;
  const browsersToEnd: Pick<StoredSession, 'id' | 'user'>[] = [];
  const found: TokenOwner[] = [];
  for (const owner of owners) {
    const session = sessions.get(owner.session) ?? (await sessions.read(owner.session, context));
    if (!session) continue;
    found.push(owner);
    const { browser: id, user, clientID } = session;
    if (id !== undefined && !clients.get(clientID)?.keepAfterSignOut) browsersToEnd.push({ id, user });
  }
  // First, because a repeated request finds them only by the sessions of the tokens.
  if (browsersToEnd.length > 0) await browsers.end(context, browsersToEnd);
  for (const owner of found) await terminateSession(owner, 'signed out', options, context.signal);
  return found.length > 0 ? browsersToEnd.map(({ id }) => id) : undefined;
}

/**
 * Whether the session of the token, which has ended, began with this sign-in of the browser: programs revoke their tokens before they send
 * the browser. A token of an earlier sign-in, for instance in the history of the browser, ends no session.
 */
function began(
  { userUID, authTime, clientID }: HintedSignIn,
  { account, authentication }: BrowserSession,
  { clients }: LogoutOptions,
): boolean {
  return (
    userUID === account.uid &&
    authTime === Math.floor(authentication.authTime / 1000) &&
    clients.get(clientID)?.keepAfterSignOut === false
  );
}

function finish({ request, response }: RequestContext, to: Return, title: string): void {
  const { target, state, noReturn } = to;
  if (target !== undefined) {
    return redirect(response, state === undefined ? target : withParameters(target, { state }));
  }
  if (!acceptsHTML(request.headers.accept)) return writeJSON(response, { message: 'success' });
  const reason = noReturn === undefined ? '' : `${NO_RETURN[noReturn]} `;
  return writePage(response, messagePage(title, `${reason}You can close this page.`));
}
