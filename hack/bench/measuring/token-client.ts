// Client of the OAuth endpoints of ks-apiserver.
import { readFile } from 'node:fs/promises';
import { Client } from '../../control-plane/client.ts';

/** The default client. */
export const CLIENT = { client_id: 'platform', client_secret: 'platform' };

export interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Uses keep-alive connections. */
export class TokenClient {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async connect(server: string, caFile: string, connections: number): Promise<TokenClient> {
    const ca = await readFile(caFile, 'utf8');
    return new TokenClient(new Client(server, { ca }, connections));
  }

  signIn(username: string, password: string): Promise<TokenAnswer> {
    return this.#tokens({ grant_type: 'password', username, password });
  }

  refresh(token: string): Promise<TokenAnswer> {
    return this.#tokens({ grant_type: 'refresh_token', refresh_token: token });
  }

  async revoke(token: string): Promise<void> {
    await this.#post('/oauth/revoke', { token });
  }

  /** Returns the status. */
  async userInfo(token: string): Promise<number> {
    return (await this.#client.send('/oauth/userinfo', { token })).status;
  }

  close(): void {
    this.#client.close();
  }

  async #tokens(form: Readonly<Record<string, string>>): Promise<TokenAnswer> {
    return JSON.parse(await this.#post('/oauth/token', form)) as TokenAnswer;
  }

  async #post(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const body = new URLSearchParams({ ...CLIENT, ...form });
    return (await this.#client.expect(path, { method: 'POST', body }, [200])).body;
  }
}
