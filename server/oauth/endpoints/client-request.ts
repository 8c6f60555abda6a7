import { methodNotAllowed } from '../../../apis/oauth/errors.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { authenticateClient } from '../clients/client-authentication.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import { type Form, readForm } from '../http/form.ts';

export interface ClientRequest {
  readonly form: Form;
  readonly client: OAuthClient;
}

/** A form that a client posted, and which client it is. Throws OAuthError. */
export async function readClientRequest(
  { request }: Pick<RequestContext, 'request'>,
  clients: ClientRegistry,
): Promise<ClientRequest> {
  if (request.method !== 'POST') throw methodNotAllowed('POST');
  const form = await readForm(request);
  return { form, client: authenticateClient(request, form, clients) };
}
