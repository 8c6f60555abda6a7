// Token revocation endpoint (RFC 7009). Revoking a token terminates the session with all tokens, on every replica.
import type { Logger } from 'pino';
import { PresentedTokenFormSchema } from '../../../apis/oauth/forms.ts';
import {
  invalidGrant,
  temporarilyUnavailable,
  unsupportedTokenType,
} from '../../../apis/oauth/oauth-error.ts';
import type { Handler } from '../../request/request-context.ts';
import { readClientRequest } from '../clients/client-authentication.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { NO_STORE } from '../http/oauth-response.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { IDTokenHints, PresentedToken, PresentedTokens, TokenOwner } from './presented-tokens.ts';

export interface SessionTermination {
  readonly sessions: Pick<SessionStore, 'delete'>;
  readonly log: Pick<Logger, 'info'>;
}

interface RevocationOptions extends SessionTermination {
  readonly clients: ClientRegistry;
  readonly tokens: Pick<PresentedTokens, 'find'>;
  readonly hints: Pick<IDTokenHints, 'read'>;
}

const FORM = new FormDecoder(PresentedTokenFormSchema);

/** ID tokens cannot be revoked: another token of the session can, and the logout endpoint accepts them as `id_token_hint`. */
export function revocationHandler({ clients, tokens, hints, ...termination }: RevocationOptions): Handler {
  return async (context) => {
    const { form, client } = await readClientRequest(context, clients);
    const { token: text } = FORM.decode(form);
    const token = await tokens.find(text, context);
    if (token) {
      const owner = ownerOf(token);
      // RFC 7009, 2.1: the client gets an error, and the token stays valid.
      if (owner.clientID !== client.id) throw invalidGrant('the token belongs to another client');
      await terminateSession(owner, 'revoked', termination, context.signal);
    } else if (await hints.read(text)) {
      throw unsupportedTokenType('an ID token cannot be revoked: use another token, or the logout endpoint');
    }
    // RFC 7009, 2.2: the response to an invalid token is 200 too, because that token is already unusable.
    context.response.writeHead(200, { 'Content-Length': 0, ...NO_STORE });
    context.response.end();
  };
}

function ownerOf(token: PresentedToken): TokenOwner {
  if (token.kind === 'access') {
    const { sid: session, client_id: clientID, sub: user } = token.claims;
    return { session, clientID, user };
  }
  const { id: session, clientID, user } = token.session;
  return { session, clientID, user };
}

export type TerminationReason = 'signed out' | 'revoked' | 'identity unlinked' | 'passkey removed';

/** Terminates the session on every replica. Throws OAuthError 503 on failure (RFC 7009, 2.2.1). */
export async function terminateSession(
  { session, clientID, user }: TokenOwner,
  reason: TerminationReason,
  { sessions, log }: SessionTermination,
  signal: AbortSignal,
): Promise<void> {
  await sessions.delete(session, signal).catch((error: unknown) => {
    throw temporarilyUnavailable('cannot terminate the session', 1, error);
  });
  log.info({ session, user, client: clientID, reason }, 'session terminated');
}
