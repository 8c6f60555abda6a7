// The authorization endpoint: RFC 6749, 3.1 with PKCE, RFC 9207 and OpenID Connect Core, 3.1.2. Nobody stays signed in
// here: each request asks for the password, so no cookie is worth stealing.
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { searchIn } from '../../../request/request-path.ts';
import type { ClientRegistry, OAuthClient } from '../../clients/oauth-client.ts';
import {
  AuthorizationRefusal,
  type AuthorizationRequest,
  authorizationRequest,
} from '../../codes/authorization-request.ts';
import type { CodeIssuer } from '../../codes/code-issuer.ts';
import { isRegistered, placeName } from '../../codes/redirect-uri.ts';
import { parseForm, readForm } from '../../http/form.ts';
import type { IDTokenHints } from '../id-token-hint.ts';
import { answerClient, forBrowsers, PageFault } from './browser-handler.ts';
import type { Continuation, SignInForms } from './sign-in.ts';

export interface AuthorizeOptions {
  readonly issuer: () => string;
  readonly clients: Pick<ClientRegistry, 'get'>;
}

const MAX_QUERY = 16 * 1024;

/** GET and POST, as OpenID Connect demands; parameters from the query or the body, never from both. */
export function authorizeHandler(
  { issuer, clients, hints }: AuthorizeOptions & { readonly hints: Pick<IDTokenHints, 'read'> },
  forms: Pick<SignInForms<AuthorizationRequest>, 'show'>,
): Handler {
  return forBrowsers(['GET', 'HEAD', 'POST'], issuer, async (context) => {
    const parameters =
      context.request.method === 'POST' ? await readForm(context.request) : parseForm(queryOf(context));
    const request = authorizationRequest(parameters, clients);
    const hint = parameters.get('id_token_hint');
    const hinted = hint === undefined ? undefined : await hints.read(hint);
    if (hint !== undefined && hinted?.clientID !== request.clientID) {
      throw new AuthorizationRefusal(
        'invalid_request',
        'id_token_hint is no id token of the client',
        request,
      );
    }
    const user = hinted?.user ?? parameters.get('login_hint') ?? '';
    forms.show(context, hinted ? { ...request, user: hinted.user } : request, { user });
  });
}

export interface CodeContinuationOptions extends AuthorizeOptions {
  readonly codes: Pick<CodeIssuer, 'issue'>;
}

/** After signing in the browser goes back to the client, with a code. */
export function codeContinuation(options: CodeContinuationOptions): Continuation<AuthorizationRequest> {
  const { issuer, clients, codes } = options;
  // Asked again at each step: the request may have been made under another configuration.
  const clientOf = ({ clientID, redirectURI }: AuthorizationRequest): OAuthClient => {
    const client = clients.get(clientID);
    if (client && isRegistered(redirectURI, client.redirectURIs)) return client;
    throw new PageFault(400, 'This cannot go on', 'The program that sent you here is not known any more.');
  };
  return {
    describe: (request) => ({
      client: clientOf(request),
      scopes: request.scopes,
      destination: placeName(request.redirectURI),
    }),
    granted: async (context, request, by) => {
      if (request.user !== undefined && by.account.name !== request.user) {
        throw new AuthorizationRefusal('login_required', 'another user has signed in', request);
      }
      const code = await codes.issue({ ...by, request, client: clientOf(request) }, context.signal);
      answerClient(context, request, issuer(), { code });
    },
    cancelled: (_context, request) => {
      clientOf(request);
      throw new AuthorizationRefusal('access_denied', 'the user did not sign in', request);
    },
  };
}

function queryOf({ request }: RequestContext): Uint8Array {
  const query = searchIn(request.url ?? '');
  if (query.length > MAX_QUERY) throw new PageFault(414, 'This cannot go on', 'The address is too long.');
  return Buffer.from(query, 'latin1');
}
