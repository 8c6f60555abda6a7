// Fake OpenID provider with real signatures, whose every response a test can change. It plays the hostile provider, and
// a provider with faults.
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
import { issueServer, newCA } from '../certificates.ts';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';

interface TokenRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

interface ScriptedResponse {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. Undefined: no response at all. */
  readonly body: object | string | undefined;
}

export const CLIENT_ID = 'platform';
export const CLIENT_SECRET = 'secret of the platform';

export class ScriptedOpenIDProvider implements AsyncDisposable {
  readonly requests: string[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  readonly ca: string;
  /** Changes of the metadata. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** Claims of the next ID token; undefined: no ID token. */
  claims: Readonly<Record<string, unknown>> | undefined = {};
  header: Partial<JWTHeaderParameters> = {};
  userinfo: Readonly<Record<string, unknown>> = { sub: 'subject-1' };
  /** Members of the token response; undefined members are removed. */
  tokens: Readonly<Record<string, unknown>> = {};
  /** Responses by path, instead of the usual ones. */
  readonly responses = new Map<string, ScriptedResponse>();
  /** Signs ID tokens; its public part is published. */
  key: CryptoKey;
  nonce = '';
  readonly #server: ReturnType<typeof createServer>;
  readonly #jwk: JWK;

  private constructor(server: ReturnType<typeof createServer>, ca: string, key: CryptoKey, jwk: JWK) {
    this.#server = server;
    this.ca = ca;
    this.key = key;
    this.#jwk = jwk;
    server.on('request', (request, response) => {
      void text(request).then(async (body) => {
        const path = new URL(request.url ?? '', this.issuer).pathname;
        this.requests.push(path);
        if (path === '/token') {
          const { authorization } = request.headers;
          this.tokenRequests.push({ form: new URLSearchParams(body), authorization });
        }
        const {
          status = 200,
          type = 'application/json',
          headers,
          body: content,
        } = this.responses.get(path) ?? (await this.#usual(path));
        if (content === undefined) return;
        response.writeHead(status, { 'Content-Type': type, ...headers });
        response.end(typeof content === 'string' ? content : JSON.stringify(content));
      });
    });
  }

  static async start(): Promise<ScriptedOpenIDProvider> {
    const ca = await newCA('provider');
    const { cert, key } = await issueServer(ca);
    const server = createServer({ cert, key });
    await listenOnLoopback(server);
    const pair = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'key-1', alg: 'ES256' };
    return new ScriptedOpenIDProvider(server, ca.cert, pair.privateKey, jwk);
  }

  get issuer(): string {
    return `https://127.0.0.1:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeNow(this.#server);
  }

  async #usual(path: string): Promise<ScriptedResponse> {
    const { issuer } = this;
    switch (path) {
      case '/.well-known/openid-configuration':
        return {
          body: {
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            userinfo_endpoint: `${issuer}/userinfo`,
            jwks_uri: `${issuer}/keys`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['ES256'],
            authorization_response_iss_parameter_supported: true,
            scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
            ...this.metadata,
          },
        };
      case '/keys':
        return { body: { keys: [this.#jwk] } };
      case '/userinfo':
        return { body: this.userinfo };
      case '/token': {
        const id = await this.#idToken();
        return {
          body: {
            access_token: 'access-1',
            token_type: 'Bearer',
            expires_in: 300,
            refresh_token: 'refresh-1',
            ...(id === undefined ? {} : { id_token: id }),
            ...this.tokens,
          },
        };
      }
      default:
        return { status: 404, body: { error: 'not_found' } };
    }
  }

  async #idToken(): Promise<string | undefined> {
    if (!this.claims) return undefined;
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: this.issuer, sub: 'subject-1', aud: CLIENT_ID, iat: now, exp: now + 300 };
    const isRefresh = this.tokenRequests.at(-1)?.form.get('grant_type') === 'refresh_token';
    return new SignJWT({ ...usual, ...(isRefresh ? {} : { nonce: this.nonce }), ...this.claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'key-1', ...this.header })
      .sign(this.key);
  }
}
