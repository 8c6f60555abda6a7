// Logout endpoint (OpenID Connect RP-Initiated Logout): terminates the session of the token in the request. No cookie
// identifies the session, so links on other sites cannot sign users out (CSRF).
import type { IncomingMessage } from 'node:http';
import { LogoutParametersSchema } from '../../../apis/oauth/forms.ts';
import { invalidRequest } from '../../../apis/oauth/oauth-error.ts';
import { parseAccept } from '../../http/accept.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { withParameters } from '../codes/redirect-target.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { NO_STORE, writeJSON } from '../http/oauth-response.ts';
import { messagePage, writePage } from '../page/page.ts';
import { bearerToken, type IDTokenHints, type TokenOwner } from './presented-tokens.ts';
import { type SessionTermination, terminateSession } from './revoke.ts';

export interface LogoutOptions extends SessionTermination {
  readonly hints: Pick<IDTokenHints, 'read' | 'readAccessToken'>;
  /** `postLogoutRedirectURIs` of a client; empty for an unknown client. */
  readonly redirectsOf: (clientID: string) => readonly string[];
}

const PARAMETERS = new FormDecoder(LogoutParametersSchema);

/**
 * An access token in the Authorization header is accepted in place of a hint, even when expired: its session may be valid.
 * Any other credential is ignored. After an error there is no redirect (OpenID Connect RP-Initiated Logout, 4), because the client
 * would believe that the user is signed out. Without a hint the redirect is correct: the browser is not signed in here, because
 * every authorization request requires the password, so there is nothing to end and nothing to ask the user (2).
 */
export function logoutHandler(options: LogoutOptions): Handler {
  const { hints } = options;
  return async (context) => {
    const parameters = await PARAMETERS.read(context.request);
    const { id_token_hint: hint, client_id: named, post_logout_redirect_uri: target, state } = parameters;
    const token = bearerToken(context.request);
    const bearer = token === undefined ? undefined : await hints.readAccessToken(token);
    const hinted = hint === undefined ? undefined : await hints.read(hint);
    const clientID = clientOf(named, hinted);
    const end = (owner: TokenOwner): Promise<void> =>
      terminateSession(owner, 'signed out', options, context.signal);
    if (bearer) await end(bearer);
    if (hinted) await end(hinted);
    else if (hint !== undefined) throw invalidRequest('id_token_hint is not an ID token of this server');
    const registered = clientID === undefined ? [] : options.redirectsOf(clientID);
    if (target !== undefined && registered.includes(target)) redirect(context, target, state);
    else respond(context, bearer !== undefined || hinted !== undefined);
  };
}

function clientOf(named: string | undefined, hinted: TokenOwner | undefined): string | undefined {
  if (named !== undefined && hinted && named !== hinted.clientID) {
    throw invalidRequest('the ID token was issued to another client');
  }
  return named ?? hinted?.clientID;
}

/** `isSignedOut`: the request had a valid token, so its session is terminated. */
function respond({ request, response }: RequestContext, isSignedOut: boolean): void {
  if (!acceptsHTML(request)) writeJSON(response, { message: 'success' });
  else if (isSignedOut) writePage(response, messagePage('Signed out', 'You can close this page.'));
  else writePage(response, messagePage('Not signed out', 'Sign out in the program that you use.'));
}

/** Browsers send `text/html` in Accept when they navigate; most other programs do not. */
function acceptsHTML({ headers }: IncomingMessage): boolean {
  const accepted = parseAccept(headers.accept ?? '');
  return accepted.some(({ type, subtype, quality }) => type === 'text' && subtype === 'html' && quality > 0);
}

/** Only a registered URI is a target. */
function redirect({ response }: RequestContext, target: string, state: string | undefined): void {
  // After a 303 the browser sends a GET, even if the request was a POST (RFC 9700, 4.12).
  response.writeHead(303, {
    Location: state === undefined ? target : withParameters(target, { state }),
    'Content-Length': 0,
    ...NO_STORE,
  });
  response.end();
}
