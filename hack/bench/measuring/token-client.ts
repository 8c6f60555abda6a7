// HTTP client of the token benchmarks. The client calls the token endpoints of ks-apiserver, Dex and oidc-provider.
import { readFile } from 'node:fs/promises';
import { Client } from '../../control-plane/client.ts';

export const CLIENT = { client_id: 'platform', client_secret: 'platform' };

export interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface TokenEndpoint {
  readonly path: string;
  /** Scope of each sign-in; empty for none. */
  readonly scope: string;
}

/** Client of a token server, with keep-alive connections. */
export class TokenClient {
  readonly #client: Client;
  readonly #endpoint: TokenEndpoint;

  private constructor(client: Client, endpoint: TokenEndpoint) {
    this.#client = client;
    this.#endpoint = endpoint;
  }

  static async connect(
    server: string,
    caFile: string,
    connections: number,
    endpoint: TokenEndpoint = { path: '/oauth/token', scope: '' },
  ): Promise<TokenClient> {
    const ca = await readFile(caFile, 'utf8');
    return new TokenClient(new Client(server, { ca }, connections), endpoint);
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

  /** Returns the status. */
  async userInfo(token: string): Promise<number> {
    return (await this.#client.send('/oauth/userinfo', { token })).status;
  }

  close(): void {
    this.#client.close();
  }

  async #tokens(form: Readonly<Record<string, string>>): Promise<TokenAnswer> {
    return JSON.parse(await this.#post(this.#endpoint.path, form)) as TokenAnswer;
  }

  async #post(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const body = new URLSearchParams({ ...CLIENT, ...form });
    return (await this.#client.expect(path, { method: 'POST', body }, [200])).body;
  }
}
