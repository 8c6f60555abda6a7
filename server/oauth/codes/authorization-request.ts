// Validates authorization requests (RFC 6749, 4.1.1). Errors in the client id, redirect URI or state never redirect
// to the client (RFC 6749, 4.1.2.1).
import { decodeJwt } from 'jose';
import type { Static } from 'typebox';
import { AuthorizationDetailsSchema, ResponseTargetSchema } from '../../../apis/oauth/forms.ts';
import { invalidRequest, OAuthError, type OAuthErrorCode } from '../../../apis/oauth/oauth-error.ts';
import type { ClientRegistry, OAuthClient } from '../clients/oauth-client.ts';
import { type Form, type Refuse, requestedScopes, words } from '../http/form.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { type AcrRequest, isAcrValue } from '../sessions/proof.ts';
import type { RequestedClaims } from '../users/user-claims.ts';
import { claimsRequest } from './claims-request.ts';
import { isRegistered, type ResponseMode } from './redirect-target.ts';

/** A validated authorization request. The form tickets contain it as JSON with a MAC. */
export interface AuthorizationRequest {
  readonly clientID: string;
  readonly redirectURI: string;
  readonly scopes: readonly string[];
  /** Absent when the client does not require PKCE and sent no challenge. */
  readonly challenge?: string;
  readonly state?: string;
  /** Default `query`. */
  readonly responseMode?: ResponseMode;
  readonly nonce?: string;
  /** The only user that is allowed to sign in (OpenID Connect Core, 3.1.2.1, `id_token_hint`; 5.5.1, `sub`). */
  readonly user?: string;
  /** The UID of this user in `id_token_hint`: a later user can have the same name. */
  readonly userUID?: unknown;
  /** Maximum age of the authentication, in seconds (`max_age`). */
  readonly maxAge?: number;
  readonly acr?: AcrRequest;
  /** Claims in addition to those of the scopes (5.5). */
  readonly claims?: RequestedClaims;
}

/** An error that is sent to the client by a redirect. */
export class AuthorizationError extends Error {
  readonly code: OAuthErrorCode;
  readonly redirectURI: string;
  readonly state: string | undefined;
  readonly responseMode: ResponseMode;

  /** `responseMode`: how the client expects the response; default `query`. */
  constructor(
    code: OAuthErrorCode,
    description: string,
    to: Pick<AuthorizationRequest, 'redirectURI'> & {
      readonly state?: string | undefined;
      readonly responseMode?: ResponseMode;
    },
  ) {
    super(description);
    this.name = 'AuthorizationError';
    this.code = code;
    this.redirectURI = to.redirectURI;
    this.state = to.state;
    this.responseMode = to.responseMode ?? 'query';
  }
}

const UNSUPPORTED = [
  ['request', 'request_not_supported'],
  ['request_uri', 'request_uri_not_supported'],
  ['registration', 'registration_not_supported'],
] as const satisfies readonly (readonly [string, OAuthErrorCode])[];

const TARGET = new FormDecoder(ResponseTargetSchema);
const DETAILS = new FormDecoder(AuthorizationDetailsSchema);

/** An authorization request, with the parameters that only the first page uses. */
interface ReceivedRequest extends AuthorizationRequest {
  readonly prompts: readonly string[];
  readonly hint: string | undefined;
  readonly loginHint: string | undefined;
}

/** Throws OAuthError for an error that is shown to the user, AuthorizationError for one that is sent to the client. */
export function authorizationRequest(form: Form, clients: Pick<ClientRegistry, 'get'>): ReceivedRequest {
  const { client_id: id, redirect_uri: redirectURI, state } = TARGET.decode(form);
  const client = clients.get(id);
  if (!client) throw new OAuthError(400, 'invalid_client', 'the client_id is unknown');
  if (!isRegistered(redirectURI, client.redirectURIs)) {
    throw invalidRequest('the redirect_uri is not registered for the client');
  }
  const responseMode = responseModeOf(form, redirectURI);
  const refuse: Refuse = (code, description) =>
    new AuthorizationError(code, description, { redirectURI, state, responseMode });

  if (!client.grants.includes('authorization_code')) {
    throw refuse('unauthorized_client', 'the client is not allowed to use this grant');
  }
  for (const [name, code] of UNSUPPORTED) {
    if (form.has(name)) throw refuse(code, `${name} is not supported`);
  }
  const details = DETAILS.decode(form, refuse);
  if (details.response_mode === 'form_post' && responseMode !== 'form_post') {
    throw refuse('invalid_request', 'response_mode form_post requires a redirect_uri with http or https');
  }
  checkPKCE(details, client, refuse);
  const scopes = requestedScopes(details.scope, client.scopes, refuse);
  const prompts = promptsIn(details, refuse);
  const { code_challenge: challenge, nonce, max_age: maxAge, acr_values: acrValues = '', claims } = details;
  const voluntary = words(acrValues).filter(isAcrValue);
  const isOpenID = scopes.includes('openid');
  return {
    clientID: client.id,
    redirectURI,
    scopes,
    ...(challenge === undefined ? {} : { challenge }),
    ...(state === undefined ? {} : { state }),
    ...(responseMode === 'query' ? {} : { responseMode }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(maxAge === undefined ? {} : { maxAge: Number(maxAge) }),
    ...(voluntary.length === 0 ? {} : { acr: { values: voluntary, essential: false } }),
    ...(claims === undefined || !isOpenID ? {} : claimsRequest(claims, client.scopes, refuse)),
    prompts,
    hint: details.id_token_hint,
    loginHint: details.login_hint,
  };
}

/** A client of the implicit or hybrid flow reads only the fragment (RFC 6749, 4.2.2.1). Forms are posted to web servers only. */
function responseModeOf(form: Form, redirectURI: string): ResponseMode {
  const types = new Set(form.getAll('response_type').flatMap(words));
  const standard = types.has('token') || types.has('id_token') ? 'fragment' : 'query';
  const mode = modeInRequestObject(form) || form.getAll('response_mode')[0] || standard;
  if (mode === 'form_post') return redirectURI.startsWith('http') ? mode : 'query';
  return mode === 'fragment' ? mode : 'query';
}

/** Not verified, because request objects are not supported: it only decides how the client gets this error. */
function modeInRequestObject(form: Form): unknown {
  const [object] = form.getAll('request');
  try {
    return object === undefined ? undefined : decodeJwt(object)['response_mode'];
  } catch {
    return undefined;
  }
}

type Details = Static<typeof AuthorizationDetailsSchema>;

function checkPKCE(details: Details, client: OAuthClient, refuse: Refuse): void {
  const { code_challenge: challenge, code_challenge_method: method } = details;
  if (challenge !== undefined && method === undefined) {
    // RFC 7636, 4.3: the default is plain.
    throw refuse('invalid_request', 'code_challenge_method is missing; must be S256');
  }
  if (challenge === undefined && (client.requiresPKCE || method !== undefined)) {
    throw refuse('invalid_request', 'code_challenge is missing: PKCE is required');
  }
}

/** Unknown values are ignored. */
function promptsIn({ prompt = '' }: Details, refuse: Refuse): readonly string[] {
  const prompts = words(prompt);
  if (!prompts.includes('none') || prompts.length === 1) return prompts;
  throw refuse('invalid_request', 'prompt=none excludes other values');
}
