// Token endpoint (RFC 6749, 3.2): authenticates the client, and calls the handler of the grant type.
import { GrantTypeFormSchema } from '../../../apis/oauth/forms.ts';
import type { GrantType } from '../../../apis/oauth/grant-types.ts';
import { OAuthError, unauthorizedClient } from '../../../apis/oauth/oauth-error.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { originOf, type SourceAddress } from '../../request/source-address.ts';
import { authenticateClient } from '../clients/client-authentication.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import type { Grant } from '../grants/grant.ts';
import { readForm } from '../http/form.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { writeJSON } from '../http/oauth-response.ts';
import type { TokenResponse } from '../tokens/token-issuer.ts';

export interface TokenEndpointOptions {
  readonly clients: ClientRegistry;
  readonly grants: Readonly<Record<GrantType, Grant>>;
  readonly sourceOf: SourceAddress;
  readonly metrics: {
    /** `grantType` is empty for an unsupported grant, `error` is empty on success. */
    tokenRequest(grantType: string, error: string): void;
  };
}

const FORM = new FormDecoder(GrantTypeFormSchema);

/** POST /oauth/token. */
export function tokenHandler(options: TokenEndpointOptions): Handler {
  const { clients, grants, sourceOf, metrics } = options;
  const exchange = async (context: RequestContext, known: { grantType: string }): Promise<TokenResponse> => {
    const { request, signal, caller, auditID } = context;
    const form = await readForm(request);
    const { grant_type: type } = FORM.decode(form);
    // An unsupported grant type is no label value: clients could send any number of them.
    known.grantType = type;
    const client = authenticateClient(request, form, clients);
    if (!client.grants.includes(type)) {
      throw unauthorizedClient('the client is not allowed to use this grant');
    }
    const origin = originOf(request, sourceOf);
    return grants[type].exchange({ client, form, ...origin, requestID: auditID, signal, caller });
  };
  return async (context) => {
    const known = { grantType: '' };
    let error = 'server_error';
    try {
      const response = await exchange(context, known);
      error = '';
      writeJSON(context.response, response);
    } catch (failure) {
      if (failure instanceof OAuthError) error = failure.code;
      throw failure;
    } finally {
      metrics.tokenRequest(known.grantType, error);
    }
  };
}
