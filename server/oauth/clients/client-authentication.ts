// Authenticates OAuth clients (RFC 6749, 2.3), and throttles failed attempts. All failures get the same response;
// only the log contains the cause.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ClientFormSchema } from '../../../apis/oauth/forms.ts';
import { invalidClient, invalidRequest, OAuthError } from '../../../apis/oauth/oauth-error.ts';
import type { RequestContext } from '../../request/request-context.ts';
import type { SourceAddress } from '../../request/source-address.ts';
import { decoded, type Form, readForm } from '../http/form.ts';
import { FormDecoder } from '../http/form-decoder.ts';
import { MAX_SOURCE_DELAY, SourceThrottle, type ThrottleLimits } from '../throttle/delays.ts';
import type { ClientRegistry, ConfiguredClient, OAuthClient } from './oauth-client.ts';

/** Reads the form of a POST and authenticates its client. Throws OAuthError. */
export async function readClientRequest(
  { request }: Pick<RequestContext, 'request'>,
  clients: ClientRegistry,
): Promise<{ readonly form: Form; readonly client: OAuthClient }> {
  const form = await readForm(request);
  return { form, client: authenticateClient(request, form, clients) };
}

/** Throws OAuthError. A public client only sends its id; a confidential client needs its secret. */
export function authenticateClient(
  request: IncomingMessage,
  form: Form,
  clients: ClientRegistry,
): OAuthClient {
  const { candidates, basic } = clientCredentials(request, form);
  const isKnown = ({ id }: Candidate): boolean => clients.get(id) !== undefined;
  const { id, secrets } = candidates.find(isKnown) ?? candidates[0];
  const client = clients.get(id);
  if (secrets.length === 0) {
    if (client?.isPublic) return client;
    throw invalidClient(basic, causeOf(client, 'sent no secret'));
  }
  const retryAfterSeconds = clients.throttle?.wait(request, id) ?? 0;
  if (retryAfterSeconds > 0) {
    const text = 'too many attempts, try again later';
    throw new OAuthError(429, 'invalid_client', text, { retryAfterSeconds });
  }
  // Compared for an unknown client too, so that timing does not reveal it.
  const matches = secrets.map((secret) => clients.checkSecret(id, secret)).includes(true);
  if (client && matches && !client.isPublic) {
    clients.throttle?.succeeded(request, id);
    return client;
  }
  clients.throttle?.failed(request, id);
  throw invalidClient(
    basic,
    causeOf(client, client?.isPublic ? 'is public and sent a secret' : 'sent a wrong secret'),
  );
}

/** For the log. Names configured clients only, because any other client_id may be a mistyped password. */
function causeOf(client: OAuthClient | undefined, problem: string): Error {
  return new Error(client ? `the client ${client.id} ${problem}` : 'unknown client');
}

interface Candidate {
  readonly id: string;
  /** Possible decodings of the secret; empty without a secret. */
  readonly secrets: readonly string[];
}

interface ClientCredentials {
  /** The standard reading first. */
  readonly candidates: readonly [Candidate, ...Candidate[]];
  readonly basic: boolean;
}

const FORM = new FormDecoder(ClientFormSchema);

function clientCredentials(request: IncomingMessage, form: Form): ClientCredentials {
  const { client_id: id, client_secret: secret } = FORM.decode(form);
  if (form.has('client_assertion') || form.has('client_assertion_type')) {
    // Explicit, because it reveals nothing about a client and the developer must choose another method.
    throw new OAuthError(401, 'invalid_client', 'client assertions are not supported, use a client secret');
  }
  const { authorization: header = '' } = request.headers;
  if (!usesBasic(request)) {
    if (id === undefined)
      throw invalidClient(header !== '', new Error('no client authentication'), 'client_id is missing');
    return { candidates: [{ id, secrets: secret === undefined ? [] : [secret] }], basic: false };
  }
  const candidates = basicCredentials(header);
  const [standard] = candidates;
  if (!standard) throw invalidClient(true, new Error('the Authorization header is not valid Basic'));
  if (secret !== undefined) throw invalidRequest('the client uses more than one authentication method');
  if (id === undefined) return { candidates: [standard, ...candidates.slice(1)], basic: true };
  const named = candidates.find((candidate) => candidate.id === id);
  if (!named) throw invalidRequest('client_id differs from the Authorization header');
  return { candidates: [named], basic: true };
}

/**
 * Whether the client authenticates with the Authorization header. HTTP libraries add headers with a bearer token, without a
 * value, or with an empty id and secret to every request; these authenticate no client.
 */
export function usesBasic({ headers: { authorization = '' } }: IncomingMessage): boolean {
  return /^basic\b/i.test(authorization) && !/^basic *(?:Og==)?$/i.test(authorization);
}

/** Maximum length of the id of a configured client. */
const MAX_ID = 128;

/**
 * RFC 6749, 2.3.1: id and secret are form-encoded before they are joined. Many clients omit the encoding, so an id or a
 * secret with a plus or percent sign has two possible decodings, and an id with a colon ends at a later one.
 */
function basicCredentials(header: string): readonly Candidate[] {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return [];
  const bytes = Buffer.from(encoded, 'base64');
  // Python libraries send Latin-1, which RFC 7617, 2, permits.
  const pair = isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1');
  const first = pair.indexOf(':');
  if (first <= 0) return [];
  const secrets = decodings(pair.slice(first + 1));
  const candidates: Candidate[] = decodings(pair.slice(0, first)).map((id) => ({ id, secrets }));
  for (
    let colon = pair.indexOf(':', first + 1);
    colon > 0 && colon <= MAX_ID;
    colon = pair.indexOf(':', colon + 1)
  ) {
    candidates.push({ id: pair.slice(0, colon), secrets: decodings(pair.slice(colon + 1)) });
  }
  return candidates;
}

/** The form-decoded text, then the text itself. */
function decodings(text: string): readonly string[] {
  if (text === '') return [];
  return [...new Set([decoded(text) ?? text, text])];
}

/**
 * The throttle of client authentication (RFC 6749, 2.3.1). Unknown client ids are treated like known ones. Undefined for the default
 * client, whose public secret needs no protection.
 */
export function newClientThrottle(
  clients: readonly Pick<ConfiguredClient, 'wellKnownSecret'>[],
  limits: ThrottleLimits,
  sourceOf: SourceAddress,
  now: () => number,
): SourceThrottle | undefined {
  if (clients.some(({ wellKnownSecret }) => wellKnownSecret !== undefined)) return undefined;
  const maxDelay = Math.min(limits.maxDelay, MAX_SOURCE_DELAY);
  return new SourceThrottle({ ...limits, failures: limits.sourceFailures, maxDelay }, sourceOf, now);
}
