// RFC 6749, 2.3: who the client is, by the Authorization header or by the form. Every fault gets the same refusal; the
// exact cause goes to the log.
import type { IncomingMessage } from 'node:http';
import { invalidClient, invalidRequest, OAuthError } from '../../../apis/oauth/errors.ts';
import { decoded, type Form } from '../http/form.ts';
import type { ClientRegistry, OAuthClient } from './oauth-client.ts';

interface Presented {
  readonly id: string;
  /** What the secret may be; empty when there is none. */
  readonly secrets: readonly string[];
  readonly basic: boolean;
}

/** Throws OAuthError. A public client only names itself; any other one proves who it is. */
export function authenticateClient(
  request: IncomingMessage,
  form: Form,
  clients: ClientRegistry,
): OAuthClient {
  const { id, secrets, basic } = presented(request, form);
  const client = clients.get(id);
  if (secrets.length === 0) {
    if (client?.isPublic) return client;
    throw invalidClient(basic, faultOf(client, 'sent no secret'));
  }
  clients.guard?.enter(id, request);
  // Checked for an unknown client too, which must take as long.
  const matches = secrets.map((secret) => clients.checkSecret(id, secret)).includes(true);
  if (client && matches && !client.isPublic) {
    clients.guard?.succeeded(id, request);
    return client;
  }
  clients.guard?.failed(id, request);
  throw invalidClient(
    basic,
    faultOf(client, client?.isPublic ? 'is public and sent a secret' : 'sent a wrong secret'),
  );
}

/** For the log. Only a client of the configuration is named: what else was sent may be anything, a password too. */
function faultOf(client: OAuthClient | undefined, what: string): Error {
  return new Error(client ? `the client ${client.id} ${what}` : 'unknown client');
}

function presented(request: IncomingMessage, form: Form): Presented {
  const id = form.get('client_id');
  const secret = form.get('client_secret');
  if (form.has('client_assertion') || form.has('client_assertion_type')) {
    // Said openly: it is of no client in particular, and whoever set the program up has to choose another way.
    throw new OAuthError(401, 'invalid_client', 'client assertions are not supported, only secrets');
  }
  const header = request.headers.authorization;
  if (header === undefined) {
    if (id === undefined) throw invalidClient(false, new Error('no client authentication'));
    return { id, secrets: secret === undefined ? [] : [secret], basic: false };
  }
  if ((request.headersDistinct['authorization'] ?? []).length > 1) {
    throw invalidRequest('the Authorization header is repeated');
  }
  const credentials = basicCredentials(header);
  if (!credentials)
    throw invalidClient(true, new Error('the Authorization header is not of the scheme Basic'));
  if (secret !== undefined) throw invalidRequest('the client authenticates in more than one way');
  if (id !== undefined && id !== credentials.id) {
    throw invalidRequest('the client names itself in two ways that differ');
  }
  return { ...credentials, basic: true };
}

/**
 * RFC 6749, 2.3.1: both halves are form-encoded before they are joined, so that an id may hold a colon. Many clients join
 * them as they are, so a secret with a plus or a percent sign has two readings.
 */
function basicCredentials(header: string): Pick<Presented, 'id' | 'secrets'> | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  try {
    const pair = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
    const colon = pair.indexOf(':');
    if (colon <= 0) return undefined;
    return { id: decoded(pair.slice(0, colon)), secrets: readings(pair.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

function readings(secret: string): readonly string[] {
  if (secret === '') return [];
  try {
    return [...new Set([decoded(secret), secret])];
  } catch {
    return [secret];
  }
}
