import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';

export const CLIENT = { client_id: 'platform', client_secret: 'platform' };

export interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface TokenEndpoint {
  readonly path: string;
  /** Asked for at each sign-in; empty for none. */
  readonly scope: string;
}

/** A client of a token server over connections that it keeps. */
export class TokenClient {
  readonly #server: string;
  readonly #endpoint: TokenEndpoint;
  readonly #agent: Agent;

  private constructor(server: string, ca: string, connections: number, endpoint: TokenEndpoint) {
    this.#server = server;
    this.#endpoint = endpoint;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, ca });
  }

  static async connect(
    server: string,
    caFile: string,
    connections: number,
    endpoint: TokenEndpoint = { path: '/oauth/token', scope: '' },
  ): Promise<TokenClient> {
    return new TokenClient(server, await readFile(caFile, 'utf8'), connections, endpoint);
  }

  signIn(username: string, password: string): Promise<TokenAnswer> {
    const { scope } = this.#endpoint;
    return this.#tokens({ grant_type: 'password', username, password, scope });
  }

  refresh(token: string): Promise<TokenAnswer> {
    return this.#tokens({ grant_type: 'refresh_token', refresh_token: token });
  }

  async revoke(token: string): Promise<void> {
    await this.#post('/oauth/revoke', { token });
  }

  /** The status. */
  async userInfo(token: string): Promise<number> {
    const { status } = await this.#send('GET', '/oauth/userinfo', { authorization: `Bearer ${token}` }, '');
    return status;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #tokens(form: Readonly<Record<string, string>>): Promise<TokenAnswer> {
    return JSON.parse(await this.#post(this.#endpoint.path, form)) as TokenAnswer;
  }

  async #post(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const body = new URLSearchParams({ ...CLIENT, ...form }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, text } = await this.#send('POST', path, headers, body);
    if (status !== 200) throw new Error(`POST ${path}: ${status} ${text}`);
    return text;
  }

  async #send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<{ status: number; text: string }> {
    const sent = request(new URL(path, this.#server), {
      agent: this.#agent,
      method,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
  }
}
