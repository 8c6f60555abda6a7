// Parser of form bodies (application/x-www-form-urlencoded), of queries with the same encoding, and of scopes.
// A malformed or repeated parameter is an error only for an endpoint that reads it. form-decoder.ts validates the values.
import type { IncomingMessage } from 'node:http';
import { isRequestEntityTooLarge } from '../../../apis/meta/v1/errors.ts';
import {
  invalidRequest,
  OAuthError,
  type OAuthErrorCode,
  unsupportedBody,
} from '../../../apis/oauth/oauth-error.ts';
import { SCOPES } from '../../../apis/oauth/scopes.ts';
import { hasBody, readBody } from '../../http/request-body.ts';
import { searchIn } from '../../request/request-path.ts';

const MAX_BYTES = 64 * 1024;
const MAX_QUERY = 16 * 1024;
const MAX_PARAMETERS = 100;

/** Creates the error of a rejected request. */
export type Refuse = (code: OAuthErrorCode, description: string) => Error;

export const badRequest: Refuse = (code, description) => new OAuthError(400, code, description);

/**
 * Parameters by name. A parameter without a value is treated as absent, and parameters that no endpoint reads are ignored,
 * also if they are repeated or malformed (RFC 6749, 3.1 and 3.2).
 */
export class Form {
  /** Encoded values, each byte as a character. */
  readonly #values = new Map<string, string[]>();

  /** `text`: the encoded form, each byte as a character. Throws OAuthError 400 for too many parameters. */
  constructor(text = '') {
    let count = 0;
    for (const pair of text.split('&')) {
      if (pair === '') continue;
      if (++count > MAX_PARAMETERS) {
        throw invalidRequest(`the request has more than ${MAX_PARAMETERS} parameters`);
      }
      const equals = pair.includes('=') ? pair.indexOf('=') : pair.length;
      const name = decodedBytes(pair.slice(0, equals));
      // No endpoint reads a parameter with a malformed name.
      if (name === undefined) continue;
      const value = pair.slice(equals + 1);
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  /** Decoded as UTF-8; plus signs are spaces. Throws the error of a repeated or malformed parameter. */
  get(name: string, refuse: Refuse = badRequest): string | undefined {
    const values = this.#values.get(name) ?? [];
    if (values.length > 1) throw refuse('invalid_request', `the parameter ${name} is repeated`);
    const [text = ''] = values;
    const value = decodedBytes(text);
    if (value === undefined) throw refuse('invalid_request', `the parameter ${name} ${MALFORMED}`);
    return value === '' ? undefined : value;
  }

  /** The values that are not malformed. */
  getAll(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).map(decodedBytes).filter((value) => value !== undefined);
  }

  has(name: string): boolean {
    return this.#values.get(name)?.some((value) => value !== '') ?? false;
  }

  /** The parameters except `excluded`, with their encoded values, in the order of the request. */
  except(...excluded: readonly string[]): readonly (readonly [string, readonly string[]])[] {
    return [...this.#values].filter(([name]) => !excluded.includes(name));
  }
}

/** The query with the parameters except `excluded`. Encoded values stay as they are, but may contain characters that a header cannot. */
export function asQuery(form: Form, ...excluded: readonly string[]): string {
  const encoded = (value: string): string => value.replaceAll(/[^\w%+.~*-]/g, encodedByte);
  const pairs = form
    .except(...excluded)
    .flatMap(([name, values]) => values.map((value) => `${encodeURIComponent(name)}=${encoded(value)}`));
  return pairs.join('&');
}

function encodedByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

const MALFORMED = 'is not UTF-8, or has a percent sign without two hexadecimal digits';

/** `text`: each byte as a character. */
function decodedBytes(text: string): string | undefined {
  try {
    return decoded(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'latin1')),
    );
  } catch {
    return undefined;
  }
}

/** Decodes a form-encoded text. Returns undefined for a bad escape, an escape that is not UTF-8, and NUL. */
export function decoded(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text.replaceAll('+', ' '));
    return value.includes('\0') ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The body of a POST, or the query of another request. Throws OAuthError: 415 for another media type, 413 for a large body, 414
 * for a long query, 400 for a fragment or too many parameters.
 */
export async function readForm(request: IncomingMessage): Promise<Form> {
  if (request.method !== 'POST') return queryForm(request);
  if (!hasBody(request)) return new Form();
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers;
  if (!isForm(type)) throw unsupportedBody('the body must be application/x-www-form-urlencoded');
  // Compressed input can expand to gigabytes.
  if (!/^(?:identity)?$/i.test(encoding ?? ''))
    throw unsupportedBody('the body must have no Content-Encoding');
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BYTES) throw tooLarge();
  const body = await readBody(request, MAX_BYTES).catch((error: unknown) => {
    throw isRequestEntityTooLarge(error) ? tooLarge() : error;
  });
  return new Form(Buffer.from(body).toString('latin1'));
}

/** Only some endpoints accept parameters in the URL (RFC 6749, 3.1 and 3.2). */
function queryForm({ url = '' }: Pick<IncomingMessage, 'url'>): Form {
  const query = searchIn(url);
  if (query.length > MAX_QUERY) throw new OAuthError(414, 'invalid_request', 'the address is too long');
  // A proxy may remove a fragment, so its meaning is ambiguous (RFC 9112, 3.2).
  if (query.includes('#')) throw invalidRequest('the address contains a fragment');
  return new Form(query);
}

/**
 * Parameters have no meaning for this media type, not even `charset`: forms are UTF-8 (URL Standard, 5). Apache HttpClient
 * declares ISO-8859-1 by default.
 */
function isForm(contentType: string): boolean {
  const [type = ''] = contentType.split(';');
  return type.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

function tooLarge(): OAuthError {
  return new OAuthError(413, 'invalid_request', `the body is larger than ${MAX_BYTES} bytes`);
}

/** The words of a list that is separated by blanks. Some clients write more than one, or one around the list. */
export function words(text: string): readonly string[] {
  return text.split(/[ \t\r\n]+/).filter((word) => word !== '');
}

/**
 * The requested scopes without duplicates, in the order of the request; empty when `scope` is absent. Throws for a scope
 * that is not `allowed` (for the client, or for the session of a refresh). With `openid`, unknown scopes such as
 * `offline_access` are ignored (OpenID Connect Core, 3.1.2.1).
 */
export function requestedScopes(
  scope: string | undefined,
  allowed: readonly string[],
  refuse: Refuse = badRequest,
): readonly string[] {
  const requested = [...new Set(words(scope ?? ''))];
  const isKnown = (one: string): boolean => allowed.includes(one) || SCOPES.some((known) => known === one);
  const scopes = requested.includes('openid') ? requested.filter(isKnown) : requested;
  if (!scopes.every((one) => allowed.includes(one)))
    throw refuse('invalid_scope', `the scope is not allowed (allowed: ${allowed.join(', ') || 'none'})`);
  return scopes;
}
