// Client of the sign-in pages of ks-apiserver: a browser, and the program that it signs in to.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client, type ClientRequest } from '../../control-plane/client.ts';
import { CLIENT } from './token-client.ts';

const REDIRECT_URI = 'https://program.example.com/callback';
const VERIFIER = 'v'.repeat(43);

/** The program in the configuration of the server: the default client, with a redirect URI. */
export function program(secretFile: string): object {
  return {
    id: CLIENT.client_id,
    secretFiles: [secretFile],
    grants: ['password', 'authorization_code', 'refresh_token'],
    redirectURIs: [REDIRECT_URI],
  };
}

const AUTHORIZE = `/oauth/authorize?${new URLSearchParams({
  client_id: CLIENT.client_id,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  code_challenge: hash('sha256', VERIFIER, 'base64url'),
  code_challenge_method: 'S256',
}).toString()}`;

export class BrowserClient {
  readonly #client: Client;
  #cookies = '';
  #ticket = '';

  private constructor(client: Client) {
    this.#client = client;
  }

  /** `ca`: PEM. */
  static connect(server: string, ca: string): BrowserClient {
    return new BrowserClient(new Client(server, { ca }, 1));
  }

  /** Opens the sign-in page in a browser without cookies. */
  async openPage(): Promise<void> {
    this.#cookies = '';
    const page = await this.#open(AUTHORIZE);
    const [, ticket = ''] = /name="ticket" value="([^"]+)"/.exec(await text(page)) ?? [];
    this.#ticket = ticket;
  }

  /** Submits the form of the page; returns the code. */
  submit(username: string, password: string): Promise<string> {
    const body = new URLSearchParams({ ticket: this.#ticket, username, password });
    return this.#code('/oauth/sign-in', { method: 'POST', body });
  }

  /** Signs on by the cookie; returns the code. */
  authorize(): Promise<string> {
    return this.#code(AUTHORIZE);
  }

  async exchange(code: string): Promise<void> {
    const body = new URLSearchParams({
      ...CLIENT,
      redirect_uri: REDIRECT_URI,
      grant_type: 'authorization_code',
      code,
      code_verifier: VERIFIER,
    });
    await this.#client.expect('/oauth/token', { method: 'POST', body }, [200]);
  }

  close(): void {
    this.#client.close();
  }

  async #code(path: string, request: ClientRequest = {}): Promise<string> {
    const response = await this.#open(path, request);
    const page = await text(response);
    const code = new URL(response.headers.location ?? '', 'https://none.example').searchParams.get('code');
    if (code === null) throw new Error(`no code: ${response.statusCode} ${page.slice(0, 500)}`);
    return code;
  }

  async #open(path: string, request: ClientRequest = {}): Promise<IncomingMessage> {
    const response = await this.#client.open(path, { ...request, headers: { cookie: this.#cookies } });
    const set = (response.headers['set-cookie'] ?? []).map((cookie) => cookie.split(';')[0] ?? '');
    if (set.length > 0) this.#cookies = set.join('; ');
    return response;
  }
}
