// Runs oidc-provider as a standalone token server over TLS, for the token benchmarks. Users and sessions are in
// memory.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';
import { verify } from '@node-rs/argon2';
import { type AdapterPayload, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { OIDCProviderOptions } from './peer.ts';

const API = 'urn:bench:api';
const SCOPE = 'openid offline_access';

/** Unbounded storage, for the refresh tokens of the bench: the default one evicts all but a thousand entries. */
class MemoryAdapter {
  static readonly #kept = new Map<string, AdapterPayload>();
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    MemoryAdapter.#kept.set(`${this.#kind}:${id}`, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return MemoryAdapter.#kept.get(`${this.#kind}:${id}`);
  }

  async findByUserCode(): Promise<undefined> {}

  async findByUid(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const kept = await this.find(id);
    if (kept) kept['consumed'] = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    MemoryAdapter.#kept.delete(`${this.#kind}:${id}`);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, { grantId: of }] of MemoryAdapter.#kept) {
      if (of === grantId) MemoryAdapter.#kept.delete(key);
    }
  }
}

function newProvider({ issuer, clientID, clientSecret, users, passwordHash }: OIDCProviderOptions): Provider {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const api = {
    scope: SCOPE,
    audience: API,
    accessTokenFormat: 'jwt',
    accessTokenTTL: 7200,
    jwt: { sign: { alg: 'ES256' } },
  } as const;
  const provider = new Provider(issuer, {
    adapter: MemoryAdapter,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kty: 'EC', alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        client_id: clientID,
        client_secret: clientSecret,
        grant_types: ['password', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
        redirect_uris: [],
        response_types: [],
      },
    ],
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API,
        getResourceServerInfo: () => api,
        useGrantedResource: () => true,
      },
    },
  });
  const known = new Set(users);
  const signIn = async (context: KoaContextWithOIDC): Promise<void> => {
    const { client, params } = context.oidc;
    const { username, password } = params ?? {};
    if (!client || typeof username !== 'string' || typeof password !== 'string') {
      throw new errors.InvalidRequest('username and password are required');
    }
    if (!known.has(username) || !(await verify(passwordHash, password))) {
      throw new errors.InvalidGrant('wrong');
    }
    const grant = new provider.Grant({ accountId: username, clientId: client.clientId });
    grant.addOIDCScope(SCOPE);
    grant.addResourceScope(API, SCOPE);
    const of = { accountId: username, client, grantId: await grant.save(), gty: 'password', scope: SCOPE };
    const access = new provider.AccessToken(of);
    access.resourceServer = new provider.ResourceServer(API, api);
    const refresh = new provider.RefreshToken({ ...of, resource: API });
    context.body = {
      access_token: await access.save(),
      refresh_token: await refresh.save(),
      token_type: 'Bearer',
      expires_in: 7200,
    };
  };
  provider.registerGrantType('password', signIn, ['username', 'password']);
  return provider;
}

const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
// The first input line is the configuration in JSON; the program exits at the end of its input.
const { value } = await lines.next();
const options = JSON.parse(String(value)) as OIDCProviderOptions;
const provider = newProvider(options);
const answer = provider.callback();
const server = createServer(
  { cert: await readFile(options.cert), key: await readFile(options.key) },
  (request, response) => void answer(request, response),
);
server.listen(options.port, '127.0.0.1');
await once(server, 'listening');
process.stdout.write('ready\n');
await lines.next();
server.close();
server.closeAllConnections();
