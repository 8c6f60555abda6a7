// oidc-provider, a real OpenID provider, as an upstream provider over TLS, with people whom a test can change.
import { createServer } from 'node:https';
import { type ClientMetadata, type Configuration, Provider } from 'oidc-provider';
import { issueServer, newCA } from '../certificates.ts';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';
import { visitProvider } from './provider-visit.ts';
import { CLIENT_ID, CLIENT_SECRET } from './scripted-openid-provider.ts';

/** Claims of a person; `sub` is the key in `people`. */
export type Person = Readonly<Record<string, unknown>>;

export class RealOpenIDProvider implements AsyncDisposable {
  readonly people = new Map<string, Person>();
  readonly prompts: string[] = [];
  readonly ca: string;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, ca: string) {
    this.#server = server;
    this.ca = ca;
  }

  static async start(): Promise<RealOpenIDProvider> {
    const ca = await newCA('provider');
    const server = createServer(await issueServer(ca));
    await listenOnLoopback(server);
    return new RealOpenIDProvider(server, ca.cert).serve('https://client.example.com/not-registered-yet');
  }

  /** Registers the server under test. `redirectURI`: of this server. `client`: changes of its registration. */
  serve(redirectURI: string, client: Partial<ClientMetadata> = {}): this {
    const provider = new Provider(this.issuer, this.#configuration(redirectURI, client));
    const answer = provider.callback();
    this.#server.removeAllListeners('request').on('request', (request, response) => {
      void answer(request, response);
    });
    return this;
  }

  get issuer(): string {
    return `https://127.0.0.1:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeNow(this.#server);
  }

  /**
   * Signs in as a browser with these cookies would, and returns the address to which the provider redirects. `prompts` gets what the
   * provider has asked for.
   */
  signIn(start: URL, login: string, cookies = new Map<string, string>()): Promise<URL> {
    this.prompts.length = 0;
    const fill = (page: string) => {
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (prompt === undefined) throw new Error(`no prompt: ${page}`);
      this.prompts.push(prompt);
      return { prompt, ...(prompt === 'login' ? { login, password: 'any' } : {}) };
    };
    return visitProvider(start, this.ca, fill, cookies);
  }

  /** Confirms a sign-out as a browser would, and returns the address to which the provider redirects. */
  signOut(start: URL, cookies: Map<string, string>): Promise<URL> {
    const fill = (page: string) => ({
      xsrf: /name="xsrf" value="(\w+)"/.exec(page)?.[1] ?? '',
      logout: 'yes',
    });
    return visitProvider(start, this.ca, fill, cookies);
  }

  #configuration(redirectURI: string, client: Partial<ClientMetadata>): Configuration {
    return {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [redirectURI],
          grant_types: ['authorization_code', 'refresh_token'],
          id_token_signed_response_alg: 'RS256',
          ...client,
        },
      ],
      claims: {
        openid: ['sub'],
        profile: ['preferred_username', 'name'],
        email: ['email', 'email_verified'],
        groups: ['groups'],
      },
      cookies: { keys: ['a key of the test'] },
      issueRefreshToken: () => Promise.resolve(true),
      // The second use of a refresh token revokes all of them.
      rotateRefreshToken: true,
      findAccount: (_context, sub) => {
        const person = this.people.get(sub);
        return person && { accountId: sub, claims: () => ({ sub, ...person }) };
      },
    };
  }
}
