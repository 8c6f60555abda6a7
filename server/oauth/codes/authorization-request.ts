// Validates authorization requests (RFC 6749, 4.1.1). Errors in the client id, redirect URI or state never redirect
// to the client (RFC 6749, 4.1.2.1).
import { invalidRequest, OAuthError } from '../../../apis/oauth/oauth-error.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import { type Form, requestedScopes, words } from '../http/form.ts';
import { isRegistered, type URIPart } from './redirect-target.ts';

/** A validated authorization request. The form tickets contain it as JSON with a MAC. */
export interface AuthorizationRequest {
  readonly clientID: string;
  readonly redirectURI: string;
  readonly scopes: readonly string[];
  /** Absent when the client does not require PKCE and sent no challenge. */
  readonly challenge?: string;
  readonly state?: string;
  readonly nonce?: string;
  /** The only user that is allowed to sign in (OpenID Connect Core, 3.1.2.1, `id_token_hint`). */
  readonly user?: string;
}

/** Error codes of RFC 6749, 4.1.2.1 and OpenID Connect Core, 3.1.2.6. */
export type AuthorizationErrorCode =
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

/** An error that is sent to the client by a redirect. */
export class AuthorizationError extends Error {
  readonly code: AuthorizationErrorCode;
  readonly redirectURI: string;
  readonly state: string | undefined;
  readonly part: URIPart;

  /** `part`: the part of the redirect URI in which the client expects the response; default `query`. */
  constructor(
    code: AuthorizationErrorCode,
    description: string,
    to: Pick<AuthorizationRequest, 'redirectURI'> & {
      readonly state?: string | undefined;
      readonly part?: URIPart;
    },
  ) {
    super(description);
    this.name = 'AuthorizationError';
    this.code = code;
    this.redirectURI = to.redirectURI;
    this.state = to.state;
    this.part = to.part ?? 'query';
  }
}

// State and nonce are part of URLs.
const MAX_STATE = 4096;
const MAX_NONCE = 512;
const MAX_REDIRECT_URI = 2048;
const UNSUPPORTED = [
  ['request', 'request_not_supported'],
  ['request_uri', 'request_uri_not_supported'],
  ['registration', 'registration_not_supported'],
] as const satisfies readonly (readonly [string, AuthorizationErrorCode])[];

/** The parameters that are read after client, redirect URI and state. */
const SINGLE = [
  'response_type',
  'response_mode',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'prompt',
  'id_token_hint',
  'login_hint',
] as const;

/** A SHA-256 as base64url: 43 characters. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** An authorization request, with the parameters that only the first page uses. */
export interface ReceivedRequest extends AuthorizationRequest {
  readonly hint: string | undefined;
  readonly loginHint: string | undefined;
}

/** Throws OAuthError for an error that is shown to the user, AuthorizationError for one that is sent to the client. */
export function authorizationRequest(
  parameters: Form,
  clients: Pick<ClientRegistry, 'get'>,
): ReceivedRequest {
  const client = clients.get(parameters.get('client_id') ?? '');
  if (!client) throw new OAuthError(400, 'invalid_client', 'the client_id is unknown');
  const redirectURI = parameters.get('redirect_uri') ?? '';
  if (redirectURI.length > MAX_REDIRECT_URI || !isRegistered(redirectURI, client.redirectURIs)) {
    throw invalidRequest('the redirect_uri is not registered for the client');
  }
  const state = parameters.get('state');
  if (state !== undefined && state.length > MAX_STATE)
    throw invalidRequest(`the state is longer than ${MAX_STATE} characters`);
  const part = responsePart(parameters);
  const refuse = (code: AuthorizationErrorCode, description: string): AuthorizationError =>
    new AuthorizationError(code, description, { redirectURI, state, part });

  checkReadable(parameters, refuse);
  checkResponseType(parameters, client, refuse);
  const challenge = challengeIn(parameters, client, refuse);
  const scopes = scopesIn(parameters, client, refuse);
  const nonce = parameters.get('nonce');
  if (nonce !== undefined && nonce.length > MAX_NONCE) {
    throw refuse('invalid_request', `the nonce is longer than ${MAX_NONCE} characters`);
  }
  checkPrompt(parameters.get('prompt'), refuse);
  return {
    clientID: client.id,
    redirectURI,
    scopes,
    ...(challenge === undefined ? {} : { challenge }),
    ...(state === undefined ? {} : { state }),
    ...(nonce === undefined ? {} : { nonce }),
    hint: parameters.get('id_token_hint'),
    loginHint: parameters.get('login_hint'),
  };
}

/** A client of the implicit or hybrid flow reads only the fragment (RFC 6749, 4.2.2.1). */
function responsePart(parameters: Form): URIPart {
  const types = new Set(parameters.getAll('response_type').flatMap(words));
  const standard = types.has('token') || types.has('id_token') ? 'fragment' : 'query';
  return (parameters.getAll('response_mode')[0] || standard) === 'fragment' ? 'fragment' : 'query';
}

type Refuse = (code: AuthorizationErrorCode, description: string) => AuthorizationError;

function checkReadable(parameters: Form, refuse: Refuse): void {
  try {
    for (const name of SINGLE) parameters.get(name);
  } catch (error) {
    if (error instanceof OAuthError) throw refuse('invalid_request', error.message);
    throw error;
  }
}

function checkResponseType(parameters: Form, client: OAuthClient, refuse: Refuse): void {
  if (!client.grants.includes('authorization_code')) {
    throw refuse('unauthorized_client', 'the client is not allowed to use this grant');
  }
  for (const [name, code] of UNSUPPORTED) {
    if (parameters.has(name)) throw refuse(code, `${name} is not supported`);
  }
  const type = parameters.get('response_type');
  if (type === undefined) throw refuse('invalid_request', 'response_type is missing');
  if (words(type).join() !== 'code') throw refuse('unsupported_response_type', 'response_type must be code');
  if ((parameters.get('response_mode') ?? 'query') !== 'query') {
    throw refuse('invalid_request', 'response_mode must be query');
  }
}

function challengeIn(parameters: Form, client: OAuthClient, refuse: Refuse): string | undefined {
  const challenge = parameters.get('code_challenge');
  if (challenge === undefined) {
    if (!client.requiresPKCE && !parameters.has('code_challenge_method')) return undefined;
    throw refuse('invalid_request', 'code_challenge is missing: PKCE is required');
  }
  // RFC 7636, 4.3: the default method is plain.
  if (parameters.get('code_challenge_method') !== 'S256') {
    throw refuse('invalid_request', 'code_challenge_method must be S256');
  }
  if (!CHALLENGE.test(challenge)) throw refuse('invalid_request', 'code_challenge is malformed');
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

/** Every sign-in requires the password, so `prompt=login` is always satisfied and `prompt=none` never. */
function checkPrompt(prompt: string | undefined, refuse: Refuse): void {
  const prompts = words(prompt ?? '');
  if (!prompts.includes('none')) return;
  if (prompts.length > 1) throw refuse('invalid_request', 'prompt=none excludes other values');
  throw refuse('login_required', 'the user must sign in');
}
