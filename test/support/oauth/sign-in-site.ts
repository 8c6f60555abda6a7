// Test server with all OAuth endpoints, over TLS. sign-in-state.ts stores the state in memory.
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { Router } from 'express';
import { pino } from 'pino';
import { FactorPolicy } from '../../../server/oauth/factors/factor-policy.ts';
import { SecondFactor } from '../../../server/oauth/factors/second-factor.ts';
import { TOTPSecrets } from '../../../server/oauth/factors/totp.ts';
import { AuthorizationCodeGrant } from '../../../server/oauth/grants/authorization-code-grant.ts';
import { DeviceCodeGrant } from '../../../server/oauth/grants/device-code-grant.ts';
import { PasswordGrant } from '../../../server/oauth/grants/password-grant.ts';
import { RefreshTokenGrant } from '../../../server/oauth/grants/refresh-token-grant.ts';
import { Seal } from '../../../server/oauth/keys/seal.ts';
import { newOAuthRouter } from '../../../server/oauth/oauth-router.ts';
import { PasswordSignIn } from '../../../server/oauth/passwords/password-sign-in.ts';
import type { SessionFreshness } from '../../../server/oauth/providers/session-freshness.ts';
import { SessionCreator } from '../../../server/oauth/sessions/session-creator.ts';
import { SessionValidity } from '../../../server/oauth/sessions/session-validity.ts';
import type { AccessTokenClaims } from '../../../server/oauth/tokens/access-token.ts';
import { RevocationCheck } from '../../../server/oauth/tokens/revocation-check.ts';
import { TokenIssuer } from '../../../server/oauth/tokens/token-issuer.ts';
import { TokenVerifier } from '../../../server/oauth/tokens/token-verifier.ts';
import { accessTokens } from '../../../server/oauth/tokens/token-verifiers.ts';
import { tlsCheck } from '../../../server/request/source-address.ts';
import { type Issued, issueServer, newCA } from '../certificates.ts';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';
import { openChain } from '../open-chain.ts';
import { MemorySessionStore } from './memory-session-store.ts';
import { NO_GRANTS } from './no-grants.ts';
import type { SiteState } from './sign-in-state.ts';
import { askSite, type SiteRequest, type SiteResponse } from './site-request.ts';

export const ISSUER = 'https://sso.example.com/oauth';
export const AUDIENCE = 'platform';

const silent = pino({ level: 'silent' });

/** Of all sites of the process. */
let certificate: Promise<Issued> | undefined;

/** One replica. */
export class SignInSite {
  readonly state: SiteState;
  readonly store: MemorySessionStore;
  readonly validity: SessionValidity;
  readonly tokens: TokenIssuer;
  readonly revocation: RevocationCheck;
  readonly verifier: TokenVerifier<AccessTokenClaims>;
  /** Outcomes and clients of all observed refreshes. */
  readonly refreshes: string[] = [];
  /** Its log at `warn` and above. */
  readonly warnings: string[] = [];
  readonly #factorPolicy: FactorPolicy;
  readonly #clients = {
    get: (id: string) => this.state.clients.find((client) => client.id === id),
    checkSecret: (id: string, secret: string) =>
      this.#clients.get(id) !== undefined && secret === `secret of ${id}`,
  };
  readonly #stop = new AbortController();
  readonly #server: Server;

  private constructor(
    state: SiteState,
    tls: { readonly cert: string; readonly key: string },
    secure: boolean,
  ) {
    this.state = state;
    const now = (): number => state.now;
    this.store = new MemorySessionStore(state.sessions, now);
    const { keys, users, credentials, identities, authenticators, secondFactor } = state;
    this.#factorPolicy = new FactorPolicy({
      secondFactor,
      authenticators,
      users,
      identities,
      passwordProviders: new Set(['ldap']),
      now,
    });
    this.validity = new SessionValidity({
      users,
      credentials,
      identities,
      authenticators,
      factorPolicy: this.#factorPolicy,
      sessions: this.store,
      clients: this.#clients,
      now,
    });
    const signed = { keys, issuer: (): string => ISSUER, now };
    this.tokens = new TokenIssuer({ ...signed, audience: AUDIENCE });
    this.revocation = new RevocationCheck({ sessions: this.store, validity: this.validity, now });
    const kind = accessTokens(AUDIENCE);
    this.verifier = new TokenVerifier({ ...signed, kind, revocation: this.revocation });
    const chain = openChain({
      router: this.#router(now),
      logger: pino({ level: 'warn' }, { write: (line) => this.warnings.push(line) }),
      signal: this.#stop.signal,
    });
    // As in the listener; the handlers have their own limits.
    const options = { ...tls, maxHeaderSize: 256 * 1024 };
    this.#server = createServer(options, (incoming, response) => chain.serve(incoming, response, secure));
  }

  /** `secure: false`: connections count as plain HTTP, as behind a proxy. */
  static async start(state: SiteState, { secure = true } = {}): Promise<SignInSite> {
    certificate ??= newCA('test').then((ca) => issueServer(ca));
    const site = new SignInSite(state, await certificate, secure);
    await listenOnLoopback(site.#server);
    return site;
  }

  get origin(): string {
    return `https://127.0.0.1:${portOf(this.#server)}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await closeNow(this.#server);
  }

  ask(path: string, request?: SiteRequest): Promise<SiteResponse> {
    return askSite(`${this.origin}${path}`, request);
  }

  /** Path of the token endpoint. */
  async token(
    form: Readonly<Record<string, string>>,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const response = await this.ask('/oauth/token', { form });
    return { status: response.status, json: JSON.parse(response.text) as Record<string, unknown> };
  }

  #observer() {
    const observed = (outcome: string) => (client: string) =>
      void this.refreshes.push(`${outcome} ${client}`);
    return { refreshed: observed('refreshed'), repeated: observed('repeated'), reused: observed('reused') };
  }

  #router(now: () => number): Router {
    const { state, store, tokens, validity } = this;
    const { keys, hasher, credentials, users, authenticators } = state;
    const clients = this.#clients;
    const factorPolicy = this.#factorPolicy;
    const issuer = (): string => ISSUER;
    const secrets = new TOTPSecrets(keys);
    const creator = new SessionCreator({
      sessions: store,
      sessionsPerUser: 10,
      random: randomBytes,
      now,
      log: silent,
    });
    const throttle = {
      attempt: async () => {
        if (state.throttled) throw state.throttled;
        state.meanwhile();
        return {
          isKnown: false,
          begin: () => undefined,
          succeeded: () => undefined,
          failed: async () => undefined,
          [Symbol.dispose]: () => undefined,
        };
      },
    };
    const passwords = new PasswordSignIn({
      ready: () => true,
      users,
      credentials,
      decoys: { of: () => undefined },
      hasher,
      throttle,
      providers: undefined,
      factorPolicy,
      records: { record: () => undefined },
      log: silent,
      now,
    });
    const shared = { sessions: store, validity, tokens, random: randomBytes, now, log: silent };
    const freshness: Pick<SessionFreshness, 'renewed'> = {
      renewed: (session, call) => state.freshness.renewed(session, call),
    };
    return newOAuthRouter({
      ...shared,
      clients,
      configuredClients: state.clients,
      keys,
      issuer,
      verifier: this.verifier,
      factorPolicy,
      authenticators,
      secrets,
      secondFactor: new SecondFactor({
        authenticators,
        secrets,
        throttle: state.factorThrottle,
        records: { record: (_origin, login) => state.records.push(login) },
        now,
      }),
      grants: {
        ...NO_GRANTS,
        password: new PasswordGrant({ signIn: passwords, sessions: creator, tokens }),
        refresh_token: new RefreshTokenGrant({ ...shared, freshness, keys, observer: this.#observer() }),
        authorization_code: new AuthorizationCodeGrant({ ...shared, keys, limit: creator }),
        'urn:ietf:params:oauth:grant-type:device_code': new DeviceCodeGrant({
          ...shared,
          limit: creator,
          monotonic: now,
        }),
      },
      metrics: { tokenRequest: () => undefined },
      creator,
      freshness,
      browserSession: { idleLifetime: 8 * 3_600_000, lifetime: 86_400_000 },
      redirects: state.redirects,
      names: state.names,
      directories: undefined,
      providerSignOut: { isUsed: false, providerOf: () => undefined, addressFor: async () => undefined },
      throttle,
      records: { record: () => undefined },
      nameSeal: new Seal(keys, 'person who chooses a user name'),
      links: state.links,
      redirectSeal: new Seal(keys, 'redirect to a provider'),
      texts: { platformName: 'Acme <Cloud>', passwordHelp: 'Call <555>.' },
      credentials,
      passwords,
      users,
      ready: () => true,
      hasher,
      sourceOf: () => state.source,
      usesTLS: tlsCheck(state.trustedProxies),
      kubeconfig: () => 'the kubeconfig',
      monotonic: now,
    });
  }
}
