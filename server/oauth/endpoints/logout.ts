// Signing out (OpenID Connect RP-Initiated Logout): ends the session of whoever shows an access token or an id token of
// it. There is no cookie to abuse, so nobody can be signed out by a link. It redirects only to registered addresses,
// compared exactly.
import type { IncomingMessage } from 'node:http';
import { invalidRequest, methodNotAllowed } from '../../../apis/oauth/errors.ts';
import { parseAccept } from '../../endpoints/accept.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { searchIn } from '../../request/request-path.ts';
import { withParameters } from '../codes/redirect-uri.ts';
import { type Form, parseForm, readForm } from '../http/form.ts';
import { NOT_STORED, writeJSON } from '../http/json-answer.ts';
import { messagePage } from '../page/message-page.ts';
import { writePage } from '../page/page.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { AccessTokenVerifier } from '../tokens/access-token.ts';
import { bearerClaims } from './bearer-claims.ts';
import { endSession, type Login, type SessionEnder } from './end-session.ts';
import type { IDTokenHints } from './id-token-hint.ts';

export interface LogoutOptions extends SessionEnder {
  readonly verifier: AccessTokenVerifier;
  readonly hints: Pick<IDTokenHints, 'read'>;
  readonly sessions: Pick<SessionStore, 'delete' | 'get' | 'read'>;
  /** Exact URIs that a client may send people to afterwards; none for an unknown client. */
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
    const end = (login: Login): Promise<void> => endSession(login, 'signed out', options, context.signal);
    if (claims) await end({ session: claims.sid, clientID: claims.client_id, user: claims.sub });
    if (hinted && (await isLive(hinted, context, options))) await end(hinted);
    const registered = clientID === undefined ? [] : options.redirectsOf(clientID);
    const target = form.get('post_logout_redirect_uri');
    if (target !== undefined && registered.includes(target)) leadOn(context, target, form.get('state'));
    else tell(context, claims !== undefined || hinted !== undefined);
  };
}

/**
 * From the URL of a GET, from the form of a POST; as strictly either way. Not of a HEAD: who sends one wants nothing done.
 */
async function parameters(request: IncomingMessage): Promise<Form> {
  const { method, headers } = request;
  if (method === 'GET') return parseForm(Buffer.from(searchIn(request.url ?? ''), 'latin1'));
  if (method !== 'POST') throw methodNotAllowed('GET, POST');
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return isEmpty ? new Map() : readForm(request);
}

function clientOf(form: Form, hinted: Login | undefined): string | undefined {
  const named = form.get('client_id');
  if (named !== undefined && hinted && named !== hinted.clientID) {
    throw invalidRequest('the id token was issued to another client');
  }
  return named ?? hinted?.clientID;
}

/** A session of that id may belong to another login by now: only its own client's hint of its own user ends it. */
async function isLive(
  { session: id, clientID, user }: Login,
  { signal }: RequestContext,
  { sessions }: LogoutOptions,
): Promise<boolean> {
  const session = sessions.get(id) ?? (await sessions.read(id, signal));
  return session !== undefined && session.clientID === clientID && session.user === user;
}

/** `isOver`: somebody was named whose session has ended now, or had before. */
function tell({ request, response }: RequestContext, isOver: boolean): void {
  if (!isShownToPeople(request)) writeJSON(response, { message: 'success' });
  else if (isOver) writePage(response, messagePage('Signed out', 'You can close this page.'));
  else writePage(response, messagePage('Nobody was signed out', 'Sign out in the program that you use.'));
}

/** Browsers that go to an address ask for HTML by name; programs do not. */
function isShownToPeople({ headers }: IncomingMessage): boolean {
  const wanted = parseAccept(headers.accept ?? '');
  return wanted.some(({ type, subtype, quality }) => type === 'text' && subtype === 'html' && quality > 0);
}

function leadOn({ response }: RequestContext, target: string, state: string | undefined): void {
  // 303: what follows is a GET, whatever this was (RFC 9700, 4.12).
  response.writeHead(303, {
    Location: state === undefined ? target : withParameters(target, { state }),
    'Content-Length': 0,
    ...NOT_STORED,
  });
  response.end();
}
