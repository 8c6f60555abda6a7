// Pushed authorization requests (RFC 9126): a client sends its authorization request to this server, and the browser only a
// request_uri. The request_uri contains the encrypted request, so no replica stores it.

import { OAuthError } from '../../../apis/oauth/oauth-error.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { Handler } from '../../request/request-context.ts';
import { readClientRequest } from '../clients/client-authentication.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import { AuthorizationError, authorizationRequest } from '../codes/authorization-request.ts';
import { asQuery, Form } from '../http/form.ts';
import { writeJSON } from '../http/oauth-response.ts';
import type { Seal } from '../keys/seal.ts';

interface PushedRequestsOptions {
  readonly requestSeal: Pick<Seal, 'seal' | 'open'>;
  readonly clients: ClientRegistry;
  /** Ms since the epoch. */
  readonly now: () => number;
}

const PREFIX = 'urn:ietf:params:oauth:request_uri:';
/** A browser is sent to the server at once. A user who reloads the page within this time repeats the request (RFC 9126, 4). */
const LIFETIME_MS = 60_000;
/** Characters of the form. Proxies limit the URL with the request_uri, which is a third longer, often to 8 KiB. */
const MAX_LENGTH = 4096;

export class PushedRequests {
  /** POST /oauth/par. */
  readonly handler: Handler;
  readonly #options: PushedRequestsOptions;

  constructor(options: PushedRequestsOptions) {
    this.#options = options;
    this.handler = async (context) => {
      const { form, client } = await readClientRequest(context, options.clients);
      // A secret must not become a part of a URL, not even encrypted.
      const query = asQuery(form, 'client_secret');
      checkRequest(new Form(query), options.clients);
      if (query.length > MAX_LENGTH) {
        throw new OAuthError(413, 'invalid_request', `the request is longer than ${MAX_LENGTH} characters`);
      }
      const pushed = { query, clientID: client.id, notAfter: options.now() + LIFETIME_MS };
      const request_uri = `${PREFIX}${await options.requestSeal.seal(JSON.stringify(pushed))}`;
      writeJSON(context.response, { request_uri, expires_in: LIFETIME_MS / 1000 }, { status: 201 });
    };
  }

  /** The pushed form of a request with a request_uri of this server; the same form without one. Throws OAuthError. */
  async open(form: Form): Promise<Form> {
    const uri = form.get('request_uri');
    if (!uri?.startsWith(PREFIX)) return form;
    const { requestSeal, now } = this.#options;
    const sealed = await requestSeal.open(uri.slice(PREFIX.length));
    const { query, clientID, notAfter } = record(sealed === undefined ? undefined : JSON.parse(sealed));
    if (clientID !== form.get('client_id') || !(Number(notAfter) > now())) {
      throw new OAuthError(400, 'invalid_request', 'the request_uri has expired, or is not of this client');
    }
    return new Form(text(query));
  }
}

/** Errors are returned to the client at once (RFC 9126, 2.3). */
function checkRequest(form: Form, clients: Pick<ClientRegistry, 'get'>): void {
  try {
    authorizationRequest(form, clients);
  } catch (error) {
    throw error instanceof AuthorizationError ? new OAuthError(400, error.code, error.message) : error;
  }
}
