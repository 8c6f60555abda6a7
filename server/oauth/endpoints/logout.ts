// Logout endpoint (OpenID Connect RP-Initiated Logout): terminates the session of the token in the request. No cookie
// identifies the session, so links on other sites cannot sign users out (CSRF).
import type { IncomingMessage } from 'node:http';
import { invalidRequest, methodNotAllowed } from '../../../apis/oauth/errors.ts';
import { parseAccept } from '../../endpoints/accept.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { searchIn } from '../../request/request-path.ts';
import { withParameters } from '../codes/redirect-uri.ts';
import { type Form, parseForm, readForm } from '../http/form.ts';
import { NO_STORE, writeJSON } from '../http/response.ts';
import { messagePage, writePage } from '../page/page.ts';
import type { AccessTokenVerifier } from '../tokens/access-token.ts';
import { bearerClaims, type IDTokenHints, type TokenOwner } from './presented-tokens.ts';
import { type SessionTermination, terminateSession } from './revoke.ts';

export interface LogoutOptions extends SessionTermination {
  readonly verifier: AccessTokenVerifier;
  readonly hints: Pick<IDTokenHints, 'read'>;
  /** `postLogoutRedirectURIs` of a client; empty for an unknown client. */
  readonly redirectsOf: (clientID: string) => readonly string[];
}

export function logoutHandler(options: LogoutOptions): Handler {
  const { verifier, hints } = options;
  return async (context) => {
    const form = await parameters(context.request);
    const claims = await bearerClaims(context, verifier);
    const hint = form.get('id_token_hint');
    const hinted = hint === undefined ? undefined : await hints.read(hint);
    const clientID = clientOf(form, hinted);
    const end = (owner: TokenOwner): Promise<void> =>
      terminateSession(owner, 'signed out', options, context.signal);
    if (claims) await end({ session: claims.sid, clientID: claims.client_id, user: claims.sub });
    if (hinted) await end(hinted);
    const registered = clientID === undefined ? [] : options.redirectsOf(clientID);
    const target = form.get('post_logout_redirect_uri');
    if (target !== undefined && registered.includes(target)) redirect(context, target, form.get('state'));
    else respond(context, claims !== undefined || hinted !== undefined);
  };
}

/** The query of a GET or the form of a POST, parsed by the same rules. HEAD is not allowed, because it must be safe. */
async function parameters(request: IncomingMessage): Promise<Form> {
  const { method, headers } = request;
  if (method === 'GET') return parseForm(Buffer.from(searchIn(request.url ?? ''), 'latin1'));
  if (method !== 'POST') throw methodNotAllowed('GET, POST');
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return isEmpty ? new Map() : readForm(request);
}

function clientOf(form: Form, hinted: TokenOwner | undefined): string | undefined {
  const named = form.get('client_id');
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
