// Token introspection (RFC 7662), for resource servers that prove who they are. Every invalid token gets the same answer,
// so that nobody learns why.
import type { Static } from 'typebox';
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { invalidClient, invalidRequest } from '../../../apis/oauth/errors.ts';
import type { IntrospectionSchema } from '../../../apis/oauth/forms.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import { writeJSON } from '../http/json-answer.ts';
import { SessionHolders } from '../sessions/session-holders.ts';
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';
import { readClientRequest } from './client-request.ts';
import type { PresentedToken, PresentedTokens } from './presented-token.ts';

export interface IntrospectionOptions {
  readonly clients: ClientRegistry;
  readonly tokens: Pick<PresentedTokens, 'find'>;
  readonly users: UserDirectory;
  readonly credentials: CredentialDirectory;
  readonly issuer: () => string;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** RFC 7662, 2.2. */
type Introspection = Static<typeof IntrospectionSchema>;

const INACTIVE: Introspection = { active: false };

export function introspectionHandler(options: IntrospectionOptions): Handler {
  const { clients, tokens } = options;
  const holders = new SessionHolders(options);
  /** That of an access token was looked at when it was verified. */
  const isActive = async (
    token: PresentedToken,
    client: OAuthClient,
    signal: AbortSignal,
  ): Promise<boolean> => {
    if (token.kind === 'access') return true;
    const { session, current } = token;
    // A refresh token is only for its own client.
    if (!current || session.clientID !== client.id) return false;
    const { users, credentials } = options;
    if (!users.synced || !credentials.synced)
      throw newServiceUnavailable('users cannot be seen at the moment');
    return (await holders.settledEnd(session, signal)) === undefined;
  };
  return async (context) => {
    const { form, client } = await readClientRequest(context, clients);
    // 2.1: authenticated clients only, lest anybody try out tokens here; a public client only has a name.
    if (client.isPublic) {
      // RFC 6749, 5.2: challenged when the header was used.
      const usedHeader = context.request.headers.authorization !== undefined;
      throw invalidClient(usedHeader, new Error('a public client cannot introspect'));
    }
    const text = form.get('token');
    if (text === undefined) throw invalidRequest('token is missing');
    const token = await tokens.find(text, context.signal);
    const counts = token && (await isActive(token, client, context.signal));
    writeJSON(context.response, counts ? described(token, options) : INACTIVE);
  };
}

function described(token: PresentedToken, { issuer }: Pick<IntrospectionOptions, 'issuer'>): Introspection {
  if (token.kind === 'access') {
    const { sub, client_id, exp, iat, aud, iss, jti, sid, scope } = token.claims;
    return {
      active: true,
      ...(scope === undefined ? {} : { scope }),
      client_id,
      username: sub,
      token_type: 'Bearer',
      exp,
      iat,
      sub,
      aud: [...aud],
      iss,
      jti,
      sid,
    };
  }
  const { session } = token;
  return {
    active: true,
    ...(session.scopes.length > 0 ? { scope: session.scopes.join(' ') } : {}),
    client_id: session.clientID,
    username: session.user,
    exp: Math.floor(Math.min(session.notAfter, session.idleNotAfter) / 1000),
    iat: Math.floor(session.lastUsedAt / 1000),
    sub: session.user,
    iss: issuer(),
    sid: session.id,
  };
}
