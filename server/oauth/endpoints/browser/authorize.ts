// Authorization endpoint (RFC 6749, 3.1; RFC 9207; OpenID Connect Core, 3.1.2). Every authorization request requires
// the password, because the server has no single sign-on session.
import type { Handler } from '../../../request/request-context.ts';
import type { ClientRegistry, OAuthClient } from '../../clients/oauth-client.ts';
import type { CodeIssuer } from '../../codes/authorization-code.ts';
import {
  AuthorizationError,
  type AuthorizationRequest,
  authorizationRequest,
} from '../../codes/authorization-request.ts';
import { displayHost, isRegistered } from '../../codes/redirect-target.ts';
import { readForm } from '../../http/form.ts';
import type { IDTokenHints } from '../presented-tokens.ts';
import {
  type BrowserHandlerOptions,
  browserHandler,
  PageError,
  redirectToClient,
} from './browser-handler.ts';
import type { Continuation, SignInForms } from './sign-in.ts';

export interface AuthorizeOptions extends BrowserHandlerOptions {
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly hints: Pick<IDTokenHints, 'read'>;
}

/** GET and POST (OpenID Connect Core, 3.1.2.1). A GET has its parameters in the query, a POST in the body. */
export function authorizeHandler(
  options: AuthorizeOptions,
  forms: Pick<SignInForms<AuthorizationRequest>, 'show'>,
): Handler {
  const { clients, hints } = options;
  return browserHandler(options, async (context) => {
    const form = await readForm(context.request);
    const { hint, loginHint = '', ...request } = authorizationRequest(form, clients);
    const hinted = hint === undefined ? undefined : await hints.read(hint);
    if (hint !== undefined && hinted?.clientID !== request.clientID) {
      throw new AuthorizationError(
        'invalid_request',
        'id_token_hint is not an ID token of the client',
        request,
      );
    }
    const user = hinted?.user ?? loginHint;
    forms.show(context, hinted ? { ...request, user: hinted.user } : request, { user });
  });
}

export interface CodeContinuationOptions extends Pick<AuthorizeOptions, 'issuer' | 'clients'> {
  readonly codes: Pick<CodeIssuer, 'issue'>;
}

/** The continuation of an authorization request: redirects the browser to the client with a code. */
export function codeContinuation(options: CodeContinuationOptions): Continuation<AuthorizationRequest> {
  const { issuer, clients, codes } = options;
  // Checked again at each step, because the configuration may have changed since the request.
  const clientOf = ({ clientID, redirectURI }: AuthorizationRequest): OAuthClient => {
    const client = clients.get(clientID);
    if (client && isRegistered(redirectURI, client.redirectURIs)) return client;
    throw new PageError(
      400,
      'Sign-in cannot continue',
      'The program that sent you here is no longer registered.',
    );
  };
  return {
    describe: (request) => ({
      client: clientOf(request),
      scopes: request.scopes,
      destination: displayHost(request.redirectURI),
    }),
    granted: async (context, request, by) => {
      if (request.user !== undefined && by.account.name !== request.user) {
        throw new AuthorizationError('login_required', 'another user has signed in', request);
      }
      const code = await codes.issue({ ...by, request, client: clientOf(request) }, context.signal);
      redirectToClient(context, request, issuer(), { code });
    },
    cancelled: (_context, request) => {
      clientOf(request);
      throw new AuthorizationError('access_denied', 'the user did not sign in', request);
    },
  };
}
