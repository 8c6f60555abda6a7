// The request of RFC 6749, 4.1.1 with PKCE and of OpenID Connect Core, 3.1.2.1. Until client and redirect URI are known
// to belong together, a fault is told to the person; after that to the client (RFC 6749, 4.1.2.1).
import { invalidRequest, OAuthError } from '../../../apis/oauth/errors.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import type { Form } from '../http/form.ts';
import { requestedScopes } from '../http/scopes.ts';
import { isChallenge } from './challenge.ts';
import { isRegistered, type URIPart } from './redirect-uri.ts';

/** Checked. It travels through the pages as JSON, under a MAC. */
export interface AuthorizationRequest {
  readonly clientID: string;
  readonly redirectURI: string;
  readonly scopes: readonly string[];
  /** Absent when the client was let off PKCE and sent none. */
  readonly challenge?: string;
  readonly state?: string;
  readonly nonce?: string;
  /** Nobody else may sign in (OpenID Connect Core, 3.1.2.1, `id_token_hint`). */
  readonly user?: string;
}

/** Codes of RFC 6749, 4.1.2.1 and of OpenID Connect Core, 3.1.2.6. */
export type RefusalCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'server_error'
  | 'temporarily_unavailable';

/** An answer to the client, by way of the browser. */
export class AuthorizationRefusal extends Error {
  readonly code: RefusalCode;
  readonly redirectURI: string;
  readonly state: string | undefined;
  readonly part: URIPart;

  /** `part`: where the client looks for its answer; in the query when it is left out. */
  constructor(
    code: RefusalCode,
    description: string,
    to: Pick<AuthorizationRequest, 'redirectURI'> & {
      readonly state?: string | undefined;
      readonly part?: URIPart;
    },
  ) {
    super(description);
    this.name = 'AuthorizationRefusal';
    this.code = code;
    this.redirectURI = to.redirectURI;
    this.state = to.state;
    this.part = to.part ?? 'query';
  }
}

// State and nonce travel in URLs; a client with more to remember keeps it itself.
const MAX_STATE = 4096;
const MAX_NONCE = 512;
const MAX_REDIRECT_URI = 2048;
const UNSUPPORTED = [
  ['request', 'request_not_supported'],
  ['request_uri', 'request_uri_not_supported'],
  ['registration', 'registration_not_supported'],
] as const satisfies readonly (readonly [string, RefusalCode])[];

/** Throws OAuthError for what the person must be told, AuthorizationRefusal for what goes back to the client. */
export function authorizationRequest(
  parameters: Form,
  clients: Pick<ClientRegistry, 'get'>,
): AuthorizationRequest {
  const client = clients.get(parameters.get('client_id') ?? '');
  if (!client) throw new OAuthError(400, 'invalid_client', 'the client is not known');
  const redirectURI = parameters.get('redirect_uri') ?? '';
  if (redirectURI.length > MAX_REDIRECT_URI || !isRegistered(redirectURI, client.redirectURIs)) {
    throw invalidRequest('the redirect URI is not one of the client');
  }
  const state = parameters.get('state');
  if (state !== undefined && state.length > MAX_STATE) throw invalidRequest('the state is too long');
  const part = answeredIn(parameters);
  const refuse = (code: RefusalCode, description: string): AuthorizationRefusal =>
    new AuthorizationRefusal(code, description, { redirectURI, state, part });

  checkKind(parameters, client, refuse);
  const challenge = challengeIn(parameters, client, refuse);
  const scopes = scopesIn(parameters, client, refuse);
  const nonce = parameters.get('nonce');
  if (nonce !== undefined && nonce.length > MAX_NONCE) {
    throw refuse('invalid_request', 'the nonce is too long');
  }
  checkPrompt(parameters.get('prompt'), refuse);
  return {
    clientID: client.id,
    redirectURI,
    scopes,
    ...(challenge === undefined ? {} : { challenge }),
    ...(state === undefined ? {} : { state }),
    ...(nonce === undefined ? {} : { nonce }),
  };
}

/** Where the client looks: a program that wants tokens at once reads nothing but the fragment (RFC 6749, 4.2.2.1). */
function answeredIn(parameters: Form): URIPart {
  const types = parameters.get('response_type')?.split(' ') ?? [];
  const usual = types.includes('token') || types.includes('id_token') ? 'fragment' : 'query';
  return (parameters.get('response_mode') ?? usual) === 'fragment' ? 'fragment' : 'query';
}

type Refuse = (code: RefusalCode, description: string) => AuthorizationRefusal;

function checkKind(parameters: Form, client: OAuthClient, refuse: Refuse): void {
  if (!client.grants.includes('authorization_code')) {
    throw refuse('unauthorized_client', 'the client may not use this grant');
  }
  for (const [name, code] of UNSUPPORTED) {
    if (parameters.has(name)) throw refuse(code, 'request objects and registration are not supported');
  }
  const type = parameters.get('response_type');
  if (type === undefined) throw refuse('invalid_request', 'response_type is missing');
  if (type !== 'code') throw refuse('unsupported_response_type', 'the only response type is code');
  if ((parameters.get('response_mode') ?? 'query') !== 'query') {
    throw refuse('invalid_request', 'the only response mode is query');
  }
}

function challengeIn(parameters: Form, client: OAuthClient, refuse: Refuse): string | undefined {
  const challenge = parameters.get('code_challenge');
  if (challenge === undefined) {
    if (!client.requiresPKCE && !parameters.has('code_challenge_method')) return undefined;
    throw refuse('invalid_request', 'code_challenge is missing: PKCE is required');
  }
  // RFC 7636, 4.3: without a method, plain would be meant.
  if (parameters.get('code_challenge_method') !== 'S256') {
    throw refuse('invalid_request', 'the only code_challenge_method is S256');
  }
  if (!isChallenge(challenge)) throw refuse('invalid_request', 'code_challenge is malformed');
  return challenge;
}

function scopesIn(parameters: Form, client: OAuthClient, refuse: Refuse): readonly string[] {
  try {
    return requestedScopes(parameters.get('scope'), client.scopes);
  } catch (error) {
    if (error instanceof OAuthError) throw refuse('invalid_scope', error.message);
    throw error;
  }
}

/** Every sign-in asks for the password, so `login` and the like are always met and `none` never is. */
function checkPrompt(prompt: string | undefined, refuse: Refuse): void {
  const prompts = prompt?.split(' ') ?? [];
  if (!prompts.includes('none')) return;
  if (prompts.length > 1) throw refuse('invalid_request', 'prompt=none stands alone');
  throw refuse('login_required', 'the user has to sign in');
}
