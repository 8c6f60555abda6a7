// Token revocation (RFC 7009). Access tokens and the refresh token of a login end together, since all of them depend on
// its session: whichever is presented ends it, on every replica.
import type { Logger } from 'pino';
import { invalidGrant, invalidRequest, temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import { NOT_STORED } from '../http/json-answer.ts';
import type { SessionStore } from '../sessions/session.ts';
import { readClientRequest } from './client-request.ts';
import type { PresentedToken, PresentedTokens } from './presented-token.ts';

export interface RevocationOptions {
  readonly clients: ClientRegistry;
  readonly tokens: Pick<PresentedTokens, 'find'>;
  readonly sessions: Pick<SessionStore, 'delete'>;
  readonly log: Pick<Logger, 'info'>;
}

export function revocationHandler({ clients, tokens, sessions, log }: RevocationOptions): Handler {
  return async (context) => {
    const { form, client } = await readClientRequest(context, clients);
    const text = form.get('token');
    if (text === undefined) throw invalidRequest('token is missing');
    const token = await tokens.find(text, context.signal);
    if (token) {
      const { session, clientID, user } = ownerOf(token);
      // RFC 7009, 2.1: the client is told; the token stays untouched.
      if (clientID !== client.id) throw invalidGrant('the token belongs to another client');
      // 2.2.1: a token that could not be revoked must not look as if it were.
      await sessions.delete(session, context.signal).catch((error: unknown) => {
        throw temporarilyUnavailable('the session cannot be ended at the moment', 1, error);
      });
      log.info({ session, user, client: clientID, reason: 'revoked' }, 'session ended');
    }
    // 2.2: also for a token that is unknown or not valid any more: that is what the client wanted.
    context.response.writeHead(200, { 'Content-Length': 0, ...NOT_STORED });
    context.response.end();
  };
}

function ownerOf(token: PresentedToken): { session: string; clientID: string; user: string } {
  if (token.kind === 'access') {
    const { sid: session, client_id: clientID, sub: user } = token.claims;
    return { session, clientID, user };
  }
  const { id: session, clientID, user } = token.session;
  return { session, clientID, user };
}
