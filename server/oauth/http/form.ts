// Strict parser of form bodies (application/x-www-form-urlencoded) and of scopes. Ambiguous forms are rejected,
// because a proxy can parse the same form differently.
import type { IncomingMessage } from 'node:http';
import { isRequestEntityTooLarge } from '../../../apis/meta/v1/errors.ts';
import { invalidRequest, invalidScope, OAuthError, unsupportedBody } from '../../../apis/oauth/errors.ts';
import { SCOPES } from '../../../apis/oauth/scopes.ts';
import { readBody } from '../../request/request-body.ts';

/** Parameters by name. A parameter without a value is treated as absent (RFC 6749, 3.1). */
export type Form = ReadonlyMap<string, string>;

const MAX_BYTES = 64 * 1024;
const MAX_PARAMETERS = 100;
const MEDIA_TYPE =
  /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i;

/** Throws OAuthError: 415 for another media type, 413 for a large body, 400 for a malformed one. */
export async function readForm(request: IncomingMessage): Promise<Form> {
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers;
  if (!MEDIA_TYPE.test(type)) {
    throw unsupportedBody('the body must be application/x-www-form-urlencoded in UTF-8');
  }
  // Compressed input can expand to gigabytes.
  if (encoding !== undefined) throw unsupportedBody('the body must have no Content-Encoding');
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BYTES) throw tooLarge();
  const body = await readBody(request, MAX_BYTES).catch((error: unknown) => {
    throw isRequestEntityTooLarge(error) ? tooLarge() : error;
  });
  return parseForm(body);
}

/**
 * Throws OAuthError 400. Names and values are decoded; plus signs are spaces. Only some endpoints also accept parameters
 * in the URL (RFC 6749, 3.1 and 3.2).
 */
export function parseForm(body: Uint8Array): Form {
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const pair of utf8(body).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    if (seen.has(name)) throw invalidRequest('a parameter is repeated');
    if (seen.size >= MAX_PARAMETERS)
      throw invalidRequest(`the form has more than ${MAX_PARAMETERS} parameters`);
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** Decodes a form-encoded name or value. Throws OAuthError for a bad escape, invalid UTF-8, and NUL. */
export function decoded(text: string): string {
  let value: string;
  try {
    value = decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw malformed(error);
  }
  if (value.includes('\0')) throw malformed();
  return value;
}

function utf8(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (error) {
    throw malformed(error);
  }
}

function malformed(cause?: unknown): OAuthError {
  return new OAuthError(400, 'invalid_request', 'the form is malformed', { cause });
}

function tooLarge(): OAuthError {
  return new OAuthError(413, 'invalid_request', `the body is larger than ${MAX_BYTES} bytes`);
}

const MAX_SCOPE_LENGTH = 1024;
/** RFC 6749, 3.3: scope tokens separated by single spaces. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * The requested scopes without duplicates, in the order of the request; empty when `scope` is absent. Throws OAuthError
 * when `scope` is malformed or contains a scope that is not `allowed` (for the client, or for the session of a refresh).
 * With `openid`, unknown scopes such as `offline_access` are ignored (OpenID Connect Core, 3.1.2.1).
 */
export function requestedScopes(scope: string | undefined, allowed: readonly string[]): readonly string[] {
  if (scope === undefined) return [];
  // Length first: the regular expression runs on bounded input only.
  if (scope.length > MAX_SCOPE_LENGTH || !SCOPE.test(scope)) throw invalidScope('the scope is malformed');
  const requested = [...new Set(scope.split(' '))];
  const isKnown = (one: string): boolean => allowed.includes(one) || SCOPES.some((known) => known === one);
  const scopes = requested.includes('openid') ? requested.filter(isKnown) : requested;
  if (!scopes.every((one) => allowed.includes(one))) throw invalidScope('the scope is not allowed');
  return scopes;
}
