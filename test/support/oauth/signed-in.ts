// Creates signed-in users in memory, without HTTP and without a cluster, for unit tests. Simulated replicas share
// the Session objects, but not the caches.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { ClientRegistry, OAuthClient } from '../../../server/oauth/clients/oauth-client.ts';
import { PresentedTokens } from '../../../server/oauth/endpoints/presented-tokens.ts';
import { RefreshTokenGrant } from '../../../server/oauth/grants/refresh-token-grant.ts';
import type { KeyRing } from '../../../server/oauth/keys/key-ring.ts';
import type { StoredSession } from '../../../server/oauth/sessions/session.ts';
import { SessionCreator } from '../../../server/oauth/sessions/session-creator.ts';
import { RevocationCheck } from '../../../server/oauth/tokens/revocation-check.ts';
import { TokenIssuer, type TokenResponse } from '../../../server/oauth/tokens/token-issuer.ts';
import { TokenVerifier } from '../../../server/oauth/tokens/token-verifier.ts';
import type { Account, Credential } from '../../../server/oauth/users/account.ts';
import { memoryKeyRing } from './memory-key-ring.ts';
import { MemorySessionStore, MemorySessions } from './memory-session-store.ts';
import { newClient } from './oauth-clients.ts';

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
  readonly verifier: TokenVerifier;
  readonly tokens: PresentedTokens;
  readonly grant: RefreshTokenGrant;
  /** Ids of the clients of all observed refreshes and reuses. */
  readonly refreshes: string[] = [];

  constructor(cluster: SignedInCluster) {
    this.cluster = cluster;
    const { users, credentials, keys } = cluster;
    const now = (): number => cluster.now;
    this.sessions = new MemorySessionStore(cluster.shared, now);
    const { sessions } = this;
    this.revocation = new RevocationCheck({ sessions, users, credentials, acceptWhenStale: false, now });
    const { revocation } = this;
    this.verifier = new TokenVerifier({ keys, issuer: () => ISSUER, audience: 'platform', revocation, now });
    this.tokens = new PresentedTokens({ verifier: this.verifier, sessions });
    this.grant = new RefreshTokenGrant({
      sessions,
      users,
      credentials,
      tokens: { tokenResponse: (granted) => cluster.issuer.tokenResponse(granted) },
      random: randomBytes,
      now,
      log,
      observer: {
        refreshed: (client) => this.refreshes.push(`refreshed ${client}`),
        reused: (client) => this.refreshes.push(`reused ${client}`),
      },
    });
  }

  async signIn(clientID = 'console', scopes: readonly string[] = ['openid', 'email']): Promise<Login> {
    const { cluster, sessions } = this;
    const client = clientOf(cluster, clientID);
    const credential = cluster.passwords.get('alice');
    if (!credential) throw new Error('alice has no password');
    const opening = new SessionCreator({
      sessions,
      sessionsPerUser: 50,
      random: randomBytes,
      now: () => cluster.now,
      log,
    });
    const { session: prepared, refreshToken } = opening.prepare({
      account: ALICE,
      credential,
      client,
      scopes,
      source: '192.0.2.7',
      userAgent: 'test',
    });
    const session = await opening.store(prepared, new AbortController().signal);
    const subject = { client, account: ALICE, session, scopes };
    const { token: access } = cluster.issuer.accessToken(subject);
    return { session, access, refresh: refreshToken ?? '', id: cluster.issuer.idToken(subject) };
  }

  refresh(
    token: string,
    form: Readonly<Record<string, string>> = {},
    clientID = 'console',
  ): Promise<TokenResponse> {
    return this.grant.exchange({
      client: clientOf(this.cluster, clientID),
      form: new Map(Object.entries({ grant_type: 'refresh_token', refresh_token: token, ...form })),
      source: '192.0.2.7',
      userAgent: 'test',
      requestID: 'r-1',
      signal: new AbortController().signal,
    });
  }

  /** Whether this replica accepts the access token; throws ServiceUnavailable when that is unknown. */
  async accepts(access: string): Promise<boolean> {
    return (await this.tokens.find(access, new AbortController().signal)) !== undefined;
  }
}

function clientOf(cluster: SignedInCluster, id: string): OAuthClient {
  const client = cluster.clients.get(id);
  if (!client) throw new Error(`no client ${id}`);
  return client;
}
