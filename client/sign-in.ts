// SignIn: a user who signs in at the server with an authorization code and PKCE. All tabs share the tokens, and one of
// them renews the tokens: with a refresh token if the client gets one, else by single sign-on in a hidden frame.
import {
  authorizationURL,
  checkAuthorization,
  codeIn,
  exchangeCode,
  issuerOf,
  newPending,
  type OAuthClient,
  type Pending,
  refresh,
  SignInError,
} from './authorization.ts';
import { responseInFrame, sendToParent } from './hidden-frame.ts';
import { claimsOf, TokenStorage, type Tokens, type UserClaims } from './token-storage.ts';
import type { TokenSource } from './transport.ts';

export interface SignInOptions {
  /** Address of the server. Default: the origin of the page. */
  readonly server?: string | undefined;
  readonly clientId: string;
  /** Its page must call `finish`. It must have the origin of the page that calls `start`. */
  readonly redirectURI: string;
  /** Default: all that the server knows. */
  readonly scope?: string | undefined;
  /** Default: `localStorage`, which all tabs share. */
  readonly storage?: Storage | undefined;
}

/** The user must sign in: call `start`. */
export class SignInRequired extends Error {
  override readonly name = 'SignInRequired';
}

interface Started extends Pending {
  readonly returnTo: string;
}

export class SignIn implements TokenSource {
  readonly #client: OAuthClient;
  readonly #key: string;
  readonly #tokens: TokenStorage;
  /** The access token that could not be renewed without the user. */
  #expired: string | undefined;

  constructor({ server, clientId, redirectURI, scope, storage }: SignInOptions) {
    const address = (server ?? location.origin).replace(/\/+$/, '');
    this.#client = { server: address, clientId, redirectURI, scope: scope ?? 'openid profile email groups' };
    this.#key = `ks-apiserver ${address} ${clientId}`;
    this.#tokens = new TokenStorage(storage, this.#key);
  }

  /** The issuer of the tokens. Throws a StatusError with a code below 500 if the server has no sign-in. */
  issuer(): Promise<string> {
    return issuerOf(this.#client);
  }

  /** Leaves the page for the sign-in. Afterwards, `finish` returns the current address, without its origin. */
  async start(): Promise<void> {
    const started: Started = { ...newPending(), returnTo: addressWithinOrigin(location) };
    sessionStorage.setItem(this.#startedKey, JSON.stringify(started));
    location.assign(await authorizationURL(this.#client, started));
  }

  /**
   * Completes the sign-in on the page of the redirect URI, and removes the code from the address. Throws a SignInError. In
   * the hidden frame of a renewal, it hands the response to the page around the frame, and never resolves. `returnTo` is `/`
   * for a user who has signed in and comes here again.
   */
  async finish(url = location.href): Promise<{ returnTo: string }> {
    if (parent !== window) return sendToParent(url);
    history.replaceState(null, '', location.pathname);
    const started = JSON.parse(sessionStorage.getItem(this.#startedKey) ?? 'null') as Started | null;
    sessionStorage.removeItem(this.#startedKey);
    if (started === null) {
      // The Back button leads a user who has signed in here again. The code in the address is not used.
      if (this.user() !== undefined) return { returnTo: '/' };
      throw new SignInError('invalid_state', 'this tab has not started a sign-in');
    }
    const issuer = await this.issuer();
    const code = codeIn(new URL(url).searchParams, started, issuer);
    this.#tokens.write(await exchangeCode(this.#client, code, started, issuer));
    return { returnTo: started.returnTo };
  }

  /** A valid access token; `rejected` is one that the server does not accept any more. Throws SignInRequired. */
  async token({ rejected }: { rejected?: string } = {}): Promise<string> {
    return this.#usable(rejected) ?? (await this.#renewed(rejected));
  }

  /**
   * Tokens for a client whose requests wait, instead of SignInRequired, until the user has signed in again in this or another
   * tab. `onExpired` is called each time that a request begins to wait.
   */
  waiting(onExpired: () => void): TokenSource {
    const token: TokenSource['token'] = async (options) => {
      for (;;) {
        try {
          return await this.token(options);
        } catch (error) {
          if (!(error instanceof SignInRequired)) throw error;
          const { promise, resolve } = Promise.withResolvers<void>();
          const end = this.onChange(resolve);
          onExpired();
          await promise.finally(end);
        }
      }
    };
    return { token };
  }

  /** The user who is signed in, or whose sign-in has expired. */
  user(): UserClaims | undefined {
    const tokens = this.#tokens.read();
    return tokens && claimsOf(tokens.idToken);
  }

  /** Calls `listener` when this or another tab signs in or out, or gets new tokens. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    return this.#tokens.onChange(listener);
  }

  /**
   * Signs the user out of all tabs and of the server, which then leads to `returnTo`, a post-logout redirect URI of the
   * client. A form keeps the ID token out of addresses.
   */
  end({ returnTo }: { readonly returnTo?: string } = {}): void {
    const idToken = this.#tokens.read()?.idToken;
    this.#tokens.write(undefined);
    const form = document.createElement('form');
    form.method = 'POST';
    form.action = `${this.#client.server}/oauth/logout`;
    const fields = {
      client_id: this.#client.clientId,
      ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      ...(returnTo === undefined ? {} : { post_logout_redirect_uri: returnTo }),
    };
    for (const [name, value] of Object.entries(fields)) {
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
    }
    document.body.append(form);
    form.submit();
  }

  /** A sign-in belongs to the tab that has started it. */
  get #startedKey(): string {
    return `${this.#key} started`;
  }

  #usable(rejected: string | undefined): string | undefined {
    const tokens = this.#tokens.read();
    if (tokens === undefined || tokens.accessToken === this.#expired)
      throw new SignInRequired('the user must sign in');
    return tokens.accessToken !== rejected && Date.now() < tokens.validUntil ? tokens.accessToken : undefined;
  }

  /** Renews the tokens, in one tab at a time: the others then find the new ones. */
  #renewed(rejected: string | undefined): Promise<string> {
    return navigator.locks.request(this.#key, async () => {
      const usable = this.#usable(rejected);
      if (usable !== undefined) return usable;
      const before = this.#tokens.read();
      if (before === undefined) throw new SignInRequired('the user must sign in');
      const renewed = await this.#exchanged(before);
      if (this.#tokens.read()?.accessToken === before.accessToken) {
        if (renewed instanceof SignInError) {
          this.#expired = before.accessToken;
          throw new SignInRequired('the sign-in has expired', { cause: renewed });
        }
        this.#tokens.write(renewed);
        return renewed.accessToken;
      }
      // Meanwhile, another tab has signed the user out or in, or another user in.
      const current = this.#usable(rejected);
      if (current === undefined) throw new SignInRequired('the sign-in has expired');
      return current;
    });
  }

  /** New tokens of the same user, or why the user must sign in. */
  async #exchanged(tokens: Tokens): Promise<Tokens | SignInError> {
    try {
      return await (tokens.refreshToken === undefined ? this.#signOn(tokens) : refresh(this.#client, tokens));
    } catch (error) {
      if (error instanceof SignInError) return error;
      throw error;
    }
  }

  /** New tokens of the same user by single sign-on (OpenID Connect Core, 3.1.2.1, `prompt=none`). */
  async #signOn({ idToken }: Tokens): Promise<Tokens> {
    const issuer = await this.issuer();
    const pending = newPending();
    const { sub } = claimsOf(idToken);
    const url = await authorizationURL(this.#client, pending, { prompt: 'none', login_hint: sub });
    const response = await this.#silentResponse(url);
    const tokens = await exchangeCode(this.#client, codeIn(response, pending, issuer), pending, issuer);
    if (claimsOf(tokens.idToken).sub !== sub)
      throw new SignInError('login_required', 'another user has signed in');
    return tokens;
  }

  /** The frame hides why it has no response. If the server is available again, a second frame can have one. */
  async #silentResponse(url: string): Promise<URLSearchParams> {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const response = await responseInFrame(url, this.#client.redirectURI);
      if (response !== undefined) return response;
      await checkAuthorization(url);
    }
    throw new SignInError('interaction_required', 'the server needs the user');
  }
}

/** A path that begins with two slashes would lead to another server: the first part is its host. */
export function addressWithinOrigin({
  pathname,
  search,
  hash,
}: Pick<Location, 'pathname' | 'search' | 'hash'>): string {
  return pathname.replace(/^\/+/, '/') + search + hash;
}
