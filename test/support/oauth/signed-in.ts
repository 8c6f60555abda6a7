// Creates signed-in users in memory, without HTTP and without a cluster, for unit tests. Simulated replicas share
// the Session objects, but not the caches.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { ClientRegistry, OAuthClient } from '../../../server/oauth/clients/oauth-client.ts';
import { PresentedTokens } from '../../../server/oauth/endpoints/presented-tokens.ts';
import type { Grant } from '../../../server/oauth/grants/grant.ts';
import { PasswordGrant } from '../../../server/oauth/grants/password-grant.ts';
import { RefreshTokenGrant } from '../../../server/oauth/grants/refresh-token-grant.ts';
import { Form } from '../../../server/oauth/http/form.ts';
import type { KeyRing } from '../../../server/oauth/keys/key-ring.ts';
import type { CheckedUser } from '../../../server/oauth/passwords/password-sign-in.ts';
import { byPassword } from '../../../server/oauth/sessions/proof.ts';
import type { StoredSession } from '../../../server/oauth/sessions/session.ts';
import { SessionCreator } from '../../../server/oauth/sessions/session-creator.ts';
import { SessionValidity } from '../../../server/oauth/sessions/session-validity.ts';
import type { AccessTokenClaims } from '../../../server/oauth/tokens/access-token.ts';
import { RevocationCheck } from '../../../server/oauth/tokens/revocation-check.ts';
import { TokenIssuer, type TokenResponse } from '../../../server/oauth/tokens/token-issuer.ts';
import { TokenVerifier } from '../../../server/oauth/tokens/token-verifier.ts';
import { accessTokens } from '../../../server/oauth/tokens/token-verifiers.ts';
import type { Account, Credential } from '../../../server/oauth/users/account.ts';
import { memoryKeyRing } from './memory-key-ring.ts';
import { MemorySessionStore, MemorySessions } from './memory-session-store.ts';
import { NO_AUTHENTICATORS } from './no-factors.ts';
import { NO_BROWSERS, NO_FRESHNESS, NO_IDENTITIES } from './no-providers.ts';
import { newClient } from './oauth-clients.ts';
import { NO_FACTORS_NEEDED } from './second-factors.ts';

export const ISSUER = 'https://localhost:9443/oauth';
export const SECRET = 'a secret';

export const ALICE: Account = {
  name: 'alice',
  uid: 'uid-of-alice',
  email: 'alice@example.com',
  displayName: 'Alice',
  groups: ['developers'],
  disabled: false,
};

export const log = pino({ level: 'silent' });

/** A session with its tokens. */
export interface Login {
  readonly session: StoredSession;
  readonly access: string;
  readonly refresh: string;
  readonly id: string;
}

export class SignedInCluster {
  now = Date.parse('2026-11-21T12:00:00Z');
  readonly shared = new MemorySessions();
  readonly accounts = new Map<string, Account>([['alice', ALICE]]);
  readonly passwords = new Map<string, Credential>([['alice', passwordSince(0)]]);
  readonly clients = new Map<string, OAuthClient>([
    ['console', newClient('console')],
    ['other', newClient('other')],
    ['terminal', newClient('terminal', { isPublic: true })],
  ]);
  readonly keys: KeyRing;
  readonly issuer: TokenIssuer;
  readonly users = { synced: true, get: (name: string) => this.accounts.get(name) };
  readonly credentials = { synced: true, get: (name: string) => this.passwords.get(name) };
  readonly validity = new SessionValidity({
    users: this.users,
    credentials: this.credentials,
    identities: NO_IDENTITIES,
    ...NO_BROWSERS,
    authenticators: NO_AUTHENTICATORS,
    factorPolicy: NO_FACTORS_NEEDED,
    now: () => this.now,
  });
  readonly registry: ClientRegistry = {
    get: (id) => this.clients.get(id),
    checkSecret: (id, secret) => this.clients.has(id) && secret === SECRET,
  };

  private constructor(keys: KeyRing) {
    this.keys = keys;
    this.issuer = new TokenIssuer({ keys, issuer: () => ISSUER, audience: 'platform', now: () => this.now });
  }

  static async start(): Promise<SignedInCluster> {
    return new SignedInCluster(await memoryKeyRing());
  }

  replica(): Replica {
    return new Replica(this);
  }

  /** Every password is right. */
  async check({ user }: { readonly user: string }): Promise<CheckedUser> {
    const account = this.accounts.get(user);
    const credential = this.passwords.get(user);
    if (!account || !credential) throw new Error(`${user} has no password`);
    return { account, authentication: byPassword(credential, this.now), credential };
  }

  changePassword(at = this.now): void {
    this.passwords.set('alice', passwordSince(at));
  }
}

/** The password of alice; `changedAt` in ms since the epoch. */
export function passwordSince(changedAt: number): Credential {
  return {
    uid: 'uid-of-her-password',
    passwordHash: '',
    userUID: ALICE.uid,
    mustChange: false,
    changedAt,
    resourceVersion: '1',
  };
}

export class Replica {
  readonly cluster: SignedInCluster;
  readonly sessions: MemorySessionStore;
  readonly revocation: RevocationCheck;
  readonly verifier: TokenVerifier<AccessTokenClaims>;
  readonly tokens: PresentedTokens;
  readonly grant: RefreshTokenGrant;
  readonly #passwordGrant: PasswordGrant;
  /** Outcomes and clients of all observed refreshes. */
  readonly refreshes: string[] = [];

  constructor(cluster: SignedInCluster) {
    this.cluster = cluster;
    const { keys, validity } = cluster;
    const now = (): number => cluster.now;
    this.sessions = new MemorySessionStore(cluster.shared, now);
    const { sessions } = this;
    this.revocation = new RevocationCheck({ sessions, validity, now });
    const { revocation } = this;
    const kind = accessTokens('platform');
    this.verifier = new TokenVerifier({ keys, issuer: () => ISSUER, kind, revocation, now });
    this.tokens = new PresentedTokens({ verifier: this.verifier, sessions });
    const tokens: Pick<TokenIssuer, 'tokenResponse'> = {
      tokenResponse: (granted) => cluster.issuer.tokenResponse(granted),
    };
    this.#passwordGrant = new PasswordGrant({
      signIn: { check: (attempt) => cluster.check(attempt) },
      sessions: new SessionCreator({ sessions, sessionsPerUser: 50, random: randomBytes, now, log }),
      tokens,
    });
    this.grant = new RefreshTokenGrant({
      sessions,
      validity,
      freshness: NO_FRESHNESS,
      tokens,
      keys,
      now,
      log,
      observer: {
        refreshed: (client) => this.refreshes.push(`refreshed ${client}`),
        repeated: (client) => this.refreshes.push(`repeated ${client}`),
        reused: (client) => this.refreshes.push(`reused ${client}`),
      },
    });
  }

  async signIn(clientID = 'console', scopes: readonly string[] = ['openid', 'email']): Promise<Login> {
    const form = { username: 'alice', password: SECRET, scope: scopes.join(' ') };
    const response = await this.#exchange(this.#passwordGrant, form, clientID);
    const [session] = [...this.cluster.shared.objects.values()].slice(-1);
    if (!session) throw new Error('no session');
    const { access_token: access, refresh_token: refresh = '', id_token: id = '' } = response;
    return { session, access, refresh, id };
  }

  refresh(
    token: string,
    form: Readonly<Record<string, string>> = {},
    clientID = 'console',
  ): Promise<TokenResponse> {
    return this.#exchange(this.grant, { refresh_token: token, ...form }, clientID);
  }

  #exchange(grant: Grant, form: Readonly<Record<string, string>>, clientID: string): Promise<TokenResponse> {
    const client = this.cluster.clients.get(clientID);
    if (!client) throw new Error(`no client ${clientID}`);
    return grant.exchange({
      client,
      form: new Form(new URLSearchParams(form).toString()),
      source: '192.0.2.7',
      userAgent: 'test',
      requestID: 'r-1',
      signal: new AbortController().signal,
      caller: 'network 192.0.2.7',
    });
  }

  /** Whether this replica accepts the access token; throws ServiceUnavailable when that is unknown. */
  async accepts(access: string): Promise<boolean> {
    return (await this.tokens.find(access, { signal: new AbortController().signal })) !== undefined;
  }
}
