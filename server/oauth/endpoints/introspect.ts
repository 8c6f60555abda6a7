// Token introspection (RFC 7662), for resource servers that prove who they are. Every invalid token gets the same answer,
// so that nobody learns why.
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { invalidClient, invalidRequest } from '../../../apis/oauth/errors.ts';
import type { Handler } from '../../request/request-context.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import { writeJSON } from '../http/json-answer.ts';
import { sessionEnd } from '../sessions/session-end.ts';
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';
import { readClientRequest } from './client-request.ts';
import type { PresentedToken, PresentedTokens } from './presented-token.ts';

export interface IntrospectionOptions {
  readonly clients: ClientRegistry;
  readonly tokens: Pick<PresentedTokens, 'find'>;
  readonly users: UserDirectory;
  readonly credentials: CredentialDirectory;
  readonly issuer: () => string;
}

/** RFC 7662, 2.2; times in seconds since the epoch. */
interface ActiveToken {
  readonly active: true;
  readonly scope?: string;
  readonly client_id: string;
  readonly username: string;
  readonly token_type?: 'Bearer';
  readonly exp: number;
  readonly iat: number;
  readonly sub: string;
  readonly aud?: readonly string[];
  readonly iss: string;
  readonly jti?: string;
  readonly sid: string;
}

const INACTIVE = { active: false } as const;

export function introspectionHandler(options: IntrospectionOptions): Handler {
  const { clients, tokens } = options;
  return async (context) => {
    const { form, client } = await readClientRequest(context, clients);
    // 2.1: authenticated clients only, lest anybody try out tokens here; a public client only has a name.
    if (client.isPublic) throw invalidClient(false, new Error('a public client can not introspect'));
    const text = form.get('token');
    if (text === undefined) throw invalidRequest('token is missing');
    const token = await tokens.find(text, context.signal);
    writeJSON(context.response, token ? described(token, client, options) : INACTIVE);
  };
}

function described(
  token: PresentedToken,
  client: OAuthClient,
  { users, credentials, issuer }: IntrospectionOptions,
): ActiveToken | typeof INACTIVE {
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
      aud,
      iss,
      jti,
      sid,
    };
  }
  const { session, current } = token;
  // A refresh token is only for its own client.
  if (!current || session.clientID !== client.id) return INACTIVE;
  if (!users.synced || !credentials.synced)
    throw newServiceUnavailable('users can not be seen at the moment');
  if (sessionEnd(session, users.get(session.user), credentials.get(session.user)) !== undefined)
    return INACTIVE;
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
