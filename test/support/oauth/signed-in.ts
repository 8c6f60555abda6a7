// Signed-in users of replicas of the authorization server (sign-in-site.ts), at the endpoints of programs. The replicas share the Session
// objects, but not the caches.
import { pino } from 'pino';
import { OAuthError, type OAuthErrorCode } from '../../../apis/oauth/oauth-error.ts';
import type { ConfiguredClient } from '../../../server/oauth/clients/oauth-client.ts';
import type { StoredSession } from '../../../server/oauth/sessions/session.ts';
import type { TokenResponse } from '../../../server/oauth/tokens/token-issuer.ts';
import type { Account, Credential } from '../../../server/oauth/users/account.ts';
import { newConfiguredClient } from './oauth-clients.ts';
import { SignInSite } from './sign-in-site.ts';
import { PASSWORD, SiteState } from './sign-in-state.ts';
import type { SiteResponse } from './site-request.ts';

export const ALICE: Account = {
  name: 'alice',
  uid: 'uid-of-alice',
  email: 'alice@example.com',
  displayName: 'Alice',
  groups: ['developers'],
  disabled: false,
};

export const log = pino({ level: 'silent' });

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

/** A session with its tokens. */
export interface Login {
  readonly session: StoredSession;
  readonly access: string;
  readonly refresh: string;
  readonly id: string;
}

/** The clients are `console`, `other`, and `terminal`, which is public. */
export class SignedInCluster {
  readonly state: SiteState;
  readonly #sites: SignInSite[] = [];

  private constructor(state: SiteState) {
    this.state = state;
  }

  static async start(): Promise<SignedInCluster> {
    const state = await SiteState.make();
    state.now = Date.parse('2026-11-21T12:00:00Z');
    state.clients.length = 0;
    const cluster = new SignedInCluster(state);
    state.accounts.set('alice', ALICE);
    cluster.changePassword(0);
    for (const id of ['console', 'other']) cluster.configure(id);
    cluster.configure('terminal', { isPublic: true });
    return cluster;
  }

  async close(): Promise<void> {
    for (const site of this.#sites) await site.close();
  }

  async replica(): Promise<Replica> {
    const site = await SignInSite.start(this.state);
    this.#sites.push(site);
    return new Replica(site);
  }

  /** Adds or replaces a client. */
  configure(id: string, changes: Partial<ConfiguredClient> = {}): void {
    const others = this.state.clients.filter((client) => client.id !== id);
    this.state.clients.splice(0, this.state.clients.length, ...others, newConfiguredClient(id, changes));
  }

  changePassword(changedAt = this.state.now): void {
    const known = this.state.credentials.get('alice');
    if (known) void this.state.credentials.set('alice', { ...known, changedAt });
  }
}

export class Replica {
  readonly site: SignInSite;

  constructor(site: SignInSite) {
    this.site = site;
  }

  async signIn(clientID = 'console', scopes: readonly string[] = ['openid', 'email']): Promise<Login> {
    const form = { grant_type: 'password', username: 'alice', password: PASSWORD, scope: scopes.join(' ') };
    const response = await this.#token(form, clientID);
    const [session] = [...this.site.state.sessions.objects.values()].slice(-1);
    if (!session) throw new Error('no session');
    const { access_token: access, refresh_token: refresh = '', id_token: id = '' } = response;
    return { session, access, refresh, id };
  }

  /** Rejects with the OAuthError of the response. */
  refresh(
    token: string,
    form: Readonly<Record<string, string>> = {},
    clientID = 'console',
  ): Promise<TokenResponse> {
    return this.#token({ grant_type: 'refresh_token', refresh_token: token, ...form }, clientID);
  }

  /** Whether this replica accepts the token; rejects with the OAuthError of the response. */
  async accepts(token: string): Promise<boolean> {
    const form = { token, ...credentialsOf('console') };
    const response = await this.site.ask('/oauth/introspect', { form });
    return (JSON.parse(text(response)) as { readonly active: boolean }).active;
  }

  async #token(form: Readonly<Record<string, string>>, clientID: string): Promise<TokenResponse> {
    const { isPublic = false } = this.site.state.clients.find(({ id }) => id === clientID) ?? {};
    const client = isPublic ? { client_id: clientID } : credentialsOf(clientID);
    const response = await this.site.ask('/oauth/token', { form: { ...form, ...client } });
    return JSON.parse(text(response)) as TokenResponse;
  }
}

/** The authentication of a confidential client in a form. */
export function credentialsOf(client: string): {
  readonly client_id: string;
  readonly client_secret: string;
} {
  return { client_id: client, client_secret: `secret of ${client}` };
}

function text({ status, text: body }: SiteResponse): string {
  if (status === 200) return body;
  const { error, error_description } = JSON.parse(body) as {
    readonly error: OAuthErrorCode;
    readonly error_description: string;
  };
  throw new OAuthError(status, error, error_description);
}
