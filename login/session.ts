// Session: the sign-in of one target, from the first sign-in over silent refreshes to the logout.
import type { Target } from './arguments.ts';
import { AuthorizationServer, EndpointError } from './authorization-server.ts';
import { TokenCache } from './token-cache.ts';
import { type Tokens, tokensOf } from './tokens.ts';

type Server = Pick<AuthorizationServer, 'post'>;

export interface SessionOptions {
  readonly cache: Pick<TokenCache, 'read' | 'write' | 'delete' | 'locked'>;
  readonly clientID: string;
  /** Connects to the server; called only if a request is necessary. */
  readonly connect: () => Promise<Server>;
  readonly now?: () => number;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #now: () => number;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  static of(target: Target, env: NodeJS.ProcessEnv): Session {
    const connect = () => AuthorizationServer.discover(target);
    return new Session({ cache: TokenCache.of(target, env), clientID: target.clientID, connect });
  }

  /** Valid tokens, refreshed if necessary; undefined if the user must sign in. */
  async tokens(): Promise<Tokens | undefined> {
    const { cache } = this.#options;
    const stored = await cache.read();
    if (stored === undefined || this.#isFresh(stored)) return stored;
    if (stored.refreshToken === undefined) return undefined;
    return cache.locked(async () => {
      // Another process may have refreshed meanwhile.
      const current = await cache.read();
      if (current === undefined || this.#isFresh(current)) return current;
      return current.refreshToken === undefined ? undefined : this.#refresh(current.refreshToken);
    });
  }

  /** Stores the tokens of a new sign-in, and terminates the previous session. */
  async replace(tokens: Tokens): Promise<void> {
    const { cache } = this.#options;
    const previous = await cache.locked(async () => {
      const stored = await cache.read();
      await cache.write(tokens);
      return stored;
    });
    // The previous session expires by itself if this fails.
    if (previous) await this.#revoke(previous).catch(() => undefined);
  }

  /** Terminates the session; false if there is none. The tokens stay stored if the server cannot be reached. */
  async end(): Promise<boolean> {
    const { cache } = this.#options;
    return cache.locked(async () => {
      const stored = await cache.read();
      if (stored) await this.#revoke(stored);
      await cache.delete();
      return stored !== undefined;
    });
  }

  /** Undefined if the session has ended. */
  async #refresh(refreshToken: string): Promise<Tokens | undefined> {
    const { cache, clientID, connect } = this.#options;
    const server = await connect();
    try {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientID };
      const tokens = tokensOf(await server.post('token_endpoint', form), this.#now());
      const refreshed = { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
      await cache.write(refreshed);
      return refreshed;
    } catch (error) {
      // With other statuses, the refresh token stays valid.
      if (!(error instanceof EndpointError) || error.status !== 400 || error.code !== 'invalid_grant')
        throw error;
      await cache.delete();
      return undefined;
    }
  }

  async #revoke({ refreshToken, accessToken }: Tokens): Promise<void> {
    const { clientID, connect } = this.#options;
    const server = await connect();
    await server.post('revocation_endpoint', { token: refreshToken ?? accessToken, client_id: clientID });
  }

  #isFresh({ refreshAt }: Tokens): boolean {
    return this.#now() < refreshAt;
  }
}
