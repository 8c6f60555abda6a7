// Introspects tokens (RFC 7662) for authenticated clients. Every invalid token gets the same response, without a
// reason.
import type { Static } from 'typebox';
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { PresentedTokenFormSchema } from '../../../apis/oauth/forms.ts';
import { invalidClient } from '../../../apis/oauth/oauth-error.ts';
import type { IntrospectionSchema } from '../../../apis/oauth/response-schemas.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { Handler } from '../../request/request-context.ts';
import { readClientRequest, usesBasic } from '../clients/client-authentication.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { writeJSON } from '../http/oauth-response.ts';
import type { SessionValidity } from '../sessions/session-validity.ts';
import type { PresentedToken, PresentedTokens } from './presented-tokens.ts';

interface IntrospectionOptions {
  readonly clients: ClientRegistry;
  readonly tokens: Pick<PresentedTokens, 'find'>;
  readonly validity: Pick<SessionValidity, 'synced' | 'confirmedEnd'>;
  readonly issuer: () => string;
}

/** RFC 7662, 2.2. */
type Introspection = Static<typeof IntrospectionSchema>;

const INACTIVE: Introspection = { active: false };

const FORM = new FormDecoder(PresentedTokenFormSchema);

export function introspectionHandler(options: IntrospectionOptions): Handler {
  const { clients, tokens, validity } = options;
  /** The session of an access token was checked when the token was verified. */
  const isActive = async (
    token: PresentedToken,
    client: OAuthClient,
    call: CallContext,
  ): Promise<boolean> => {
    if (token.kind === 'access') return true;
    const { session, current } = token;
    // A refresh token is active for its own client only.
    if (!current || session.clientID !== client.id) return false;
    if (!validity.synced) throw newServiceUnavailable('the user cache is stale');
    return (await validity.confirmedEnd(session, call)) === undefined;
  };
  return async (context) => {
    const { form, client } = await readClientRequest(context, clients);
    // RFC 7662, 2.1: authenticated clients only, to prevent token scanning.
    if (client.isPublic) {
      // RFC 6749, 5.2: with a challenge when the client used the Authorization header.
      const cause = new Error('a public client is not allowed to introspect');
      throw invalidClient(usesBasic(context.request), cause);
    }
    const token = await tokens.find(FORM.decode(form).token, context);
    const active = token && (await isActive(token, client, context));
    writeJSON(context.response, active ? introspection(token, options) : INACTIVE);
  };
}

function introspection(
  token: PresentedToken,
  { issuer }: Pick<IntrospectionOptions, 'issuer'>,
): Introspection {
  if (token.kind === 'access') {
    const { sub, client_id, exp, iat, aud, iss, jti, sid, scope, auth_time, acr } = token.claims;
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
      ...(auth_time === undefined ? {} : { auth_time }),
      ...(acr === undefined ? {} : { acr }),
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
