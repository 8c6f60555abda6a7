// Token revocation (RFC 7009). Access tokens and the refresh token of a login end together, since all of them depend on
// its session: whichever is presented ends it, on every replica. An id token opens nothing, so there is nothing to revoke;
// who signs out with one does so next door (logout.ts).
import { invalidGrant, invalidRequest, unsupportedTokenType } from '../../../apis/oauth/errors.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import { NOT_STORED } from '../http/json-answer.ts';
import { readClientRequest } from './client-request.ts';
import { endSession, type Login, type SessionEnder } from './end-session.ts';
import type { IDTokenHints } from './id-token-hint.ts';
import type { PresentedToken, PresentedTokens } from './presented-token.ts';

export interface RevocationOptions extends SessionEnder {
  readonly clients: ClientRegistry;
  readonly tokens: Pick<PresentedTokens, 'find'>;
  readonly hints: Pick<IDTokenHints, 'read'>;
}

export function revocationHandler({ clients, tokens, hints, ...ending }: RevocationOptions): Handler {
  return async (context) => {
    const { form, client } = await readClientRequest(context, clients);
    const text = form.get('token');
    if (text === undefined) throw invalidRequest('token is missing');
    const token = await tokens.find(text, context.signal);
    if (token) {
      const login = loginOf(token);
      // RFC 7009, 2.1: the client is told; the token stays untouched.
      if (login.clientID !== client.id) throw invalidGrant('the token belongs to another client');
      await endSession(login, 'revoked', ending, context.signal);
    } else if (await hints.read(text)) {
      throw unsupportedTokenType('an id token cannot be revoked: bring another token, or sign out with it');
    }
    // 2.2: also for a token that is unknown or not valid any more: that is what the client wanted.
    context.response.writeHead(200, { 'Content-Length': 0, ...NOT_STORED });
    context.response.end();
  };
}

function loginOf(token: PresentedToken): Login {
  if (token.kind === 'access') {
    const { sid: session, client_id: clientID, sub: user } = token.claims;
    return { session, clientID, user };
  }
  const { id: session, clientID, user } = token.session;
  return { session, clientID, user };
}
