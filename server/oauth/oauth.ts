// Creates the authorization server with all OAuth endpoints from the configuration. app.ts uses its router.
import { randomBytes } from 'node:crypto';
import type { Router } from 'express';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { groupName } from '../../apis/iam/v1beta1/group-version.ts';
import type { Admission } from '../admission/admission.ts';
import type { Seats } from '../admission/seats.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { LeaderElection } from '../cluster/election/leader-election.ts';
import type { SharedSecret } from '../cluster/secrets/shared-secret.ts';
import type { ErrorFamily } from '../filters/error-writer.ts';
import { type SourceAddress, sourceAddress, tlsCheck } from '../request/source-address.ts';
import { newClientThrottle } from './clients/client-authentication.ts';
import { ConfiguredClients } from './clients/configured-clients.ts';
import { AuthorizationCodeGrant } from './grants/authorization-code-grant.ts';
import { DeviceCodeGrant } from './grants/device-code-grant.ts';
import { PasswordGrant } from './grants/password-grant.ts';
import { RefreshTokenGrant } from './grants/refresh-token-grant.ts';
import { IdentityProviders } from './identity-providers.ts';
import { KEYS_SECRET, KeyRotator, PUBLISH_AHEAD_MS, ROTATION_INTERVAL_MS } from './keys/key-rotator.ts';
import { SecretKeyRing } from './keys/secret-key-ring.ts';
import { BackChannelLogout } from './logout/back-channel-logout.ts';
import { isOAuthPath, oauthErrors } from './oauth-error-writer.ts';
import { OAuthMetrics } from './oauth-metrics.ts';
import { newOAuthRouter } from './oauth-router.ts';
import { ACCOUNT_PATH } from './page/account-sections.ts';
import { DecoyHashes } from './passwords/decoy-hashes.ts';
import { newLoginRecords } from './passwords/login-records.ts';
import { HASH_QUEUE, hashConcurrency, PASSWORD_HASH, PasswordHasher } from './passwords/password-hasher.ts';
import { PasswordSignIn } from './passwords/password-sign-in.ts';
import { newSecondFactors, type SecondFactors } from './second-factors.ts';
import { ClusterSessionStore } from './sessions/cluster-session-store.ts';
import { SESSIONS_PER_USER, SessionCreator } from './sessions/session-creator.ts';
import { SessionReaper } from './sessions/session-reaper.ts';
import { SessionValidity } from './sessions/session-validity.ts';
import type { OAuthSettings } from './settings.ts';
import { LoginThrottle } from './throttle/login-throttle.ts';
import { SharedFailures } from './throttle/shared-failures.ts';
import { RevocationCheck, TokenIDCheck } from './tokens/revocation-check.ts';
import { TokenIssuer } from './tokens/token-issuer.ts';
import { newTokenVerifiers, type TokenVerifiers } from './tokens/token-verifiers.ts';
import { ClusterCredentialStore } from './users/credential-store.ts';
import { FirstAdministrator } from './users/first-administrator.ts';
import { LastLogins } from './users/last-logins.ts';
import { ClusterUserDirectory } from './users/user-directory.ts';

interface OAuthOptions {
  readonly settings: OAuthSettings;
  readonly platform: { readonly name: string; readonly namespace: string };
  /** The issuer URL; known when the first request arrives. */
  readonly issuer: () => string;
  readonly client: ClusterClient;
  /** The Secret of the signing keys. */
  readonly secret: SharedSecret;
  readonly admission: Pick<Admission, 'pool'>;
  /** The seats of lookups of sessions, users and passwords. */
  readonly lookups: Seats;
  /** `holderIdentity` of this replica in the Lease; unique. */
  readonly identity: string;
  /** The kubeconfig of all users; undefined if kubectl cannot reach the cluster through this server. */
  readonly kubeconfig?: (() => string) | undefined;
  /** CPU cores, and threads of libuv's pool. */
  readonly machine: { readonly cores: number; readonly threads: number };
  readonly log: Logger;
  readonly metrics: Registry;
}

export interface OAuth extends TokenVerifiers {
  /** The endpoints under `/oauth`, and the metadata of RFC 8414. */
  readonly router: Router;
  readonly errorFamily: ErrorFamily;
  /** Path of the page for browsers that open the address of the server. */
  readonly startPage: string;
  /** Whether a path skips authorization, because its endpoint authenticates callers itself. */
  isPublic(path: string): boolean;
  /** The caches that are not ready, for the readiness check; empty when sign-in is available. */
  readonly missing: readonly string[];
  describeProviders(): string;
  readonly tokenIDs: TokenIDCheck;
  readonly users: ClusterUserDirectory;
  readonly credentials: ClusterCredentialStore;
  readonly sessions: ClusterSessionStore;
  readonly factors: SecondFactors;
  readonly groupGrants: IdentityProviders['groupGrants'];
  readonly hasher: PasswordHasher;
  readonly signIn: PasswordSignIn;
  readonly sourceOf: SourceAddress;
  readonly tokens: Pick<TokenIssuer, 'checkToken'>;
  /** Watches the cluster until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** The Lease of the leader, which creates the first administrator, rotates the keys and deletes invalid sessions. */
const LEASE = 'ks-apiserver';
/** Added to the lifetime of retired keys, because clocks differ. */
const LEEWAY_MS = 60_000;

/** Starts nothing before `run`. */
export function newOAuth(options: OAuthOptions): OAuth {
  const { settings, platform, issuer, client, secret, identity, machine, kubeconfig } = options;
  const { admission, lookups, log, metrics: registry } = options;
  const now = Date.now;
  const monotonic = (): number => performance.now();
  const random = randomBytes;
  const { namespace } = platform;
  const group = groupName(platform.name);
  const { audience } = settings;
  const metrics = new OAuthMetrics(registry, () => failures.size);
  const sourceOf = sourceAddress(settings.trustedProxies);

  const location = { namespace, name: KEYS_SECRET };
  const keys = new SecretKeyRing({ client, secret, log, ...location });
  const cache = { client, group, lookups, log };
  const users = new ClusterUserDirectory(cache);
  const credentials = new ClusterCredentialStore(cache);
  const sessions = new ClusterSessionStore({ ...cache, keys, now });
  const clients = new ConfiguredClients({
    clients: settings.clients,
    client,
    namespace,
    throttle: newClientThrottle(settings.clients, settings.throttle, sourceOf, monotonic),
    log,
  });
  const failures = new SharedFailures({ limits: settings.throttle, client, namespace, log, now });
  const throttle = new LoginThrottle({ failures, keys, sessions, now });
  const lastLogins = new LastLogins({ client, group, users, log, now });
  const records = newLoginRecords(log.child({ audit: true }), metrics, lastLogins);
  const shared = { ...cache, users, keys, records, now };
  const providers = new IdentityProviders({
    ...shared,
    settings: settings.identityProviders,
    platform,
    credentials,
    sessions,
    admission,
    throttle,
  });
  metrics.defaultClient(clients.usesWellKnownSecret);
  const missing = (): readonly string[] => [
    ...(keys.ready ? [] : ['keys']),
    ...(users.synced ? [] : ['users']),
    ...(credentials.synced ? [] : ['passwords']),
    ...(authenticators.synced ? [] : ['authenticators']),
    ...(sessions.fresh ? [] : ['sessions']),
    ...(providers.directory.synced ? [] : ['identities']),
  ];
  const factors = newSecondFactors({
    ...shared,
    secondFactor: settings.secondFactor,
    identities: providers.directory,
    passwordProviders: providers.withPasswords,
    throttle,
  });
  const { authenticators, factorPolicy } = factors;
  const ready = (): boolean => missing().length === 0;
  const validity = new SessionValidity({
    users,
    credentials,
    identities: providers.directory,
    sessions,
    clients,
    authenticators,
    factorPolicy,
    now,
  });
  const revocation = new RevocationCheck({ sessions, validity });
  const verifiers = newTokenVerifiers({ ...settings, keys, issuer, revocation });
  const tokens = new TokenIssuer({ keys, issuer, audience });

  const hasher = new PasswordHasher({
    ...PASSWORD_HASH,
    admission,
    queue: { ...HASH_QUEUE, concurrency: hashConcurrency(machine.cores, machine.threads) },
  });
  const signIn = new PasswordSignIn({
    ready,
    users,
    credentials,
    hasher,
    decoys: new DecoyHashes({
      hashes: () => credentials.hashes(),
      digest: (name) => keys.mac('login-decoy', name).split(':')[1] ?? '',
      monotonic,
    }),
    throttle,
    providers: providers.signIn,
    factorPolicy,
    now,
    records,
    log,
  });

  const creator = new SessionCreator({ sessions, sessionsPerUser: SESSIONS_PER_USER, random, now, log });
  const codes = { sessions, validity, tokens, keys, limit: creator, random, now, log };
  const { freshness } = providers;
  const refresh = { sessions, validity, freshness, tokens, keys, now, log, observer: metrics };
  const grants = {
    password: new PasswordGrant({ signIn, sessions: creator, tokens }),
    refresh_token: new RefreshTokenGrant(refresh),
    authorization_code: new AuthorizationCodeGrant(codes),
    'urn:ietf:params:oauth:grant-type:device_code': new DeviceCodeGrant({ ...codes, monotonic }),
  };
  const router = newOAuthRouter({
    texts: settings.signInPages,
    kubeconfig,
    browserSession: settings.browserSession,
    usesTLS: tlsCheck(settings.trustedProxies),
    configuredClients: settings.clients,
    issuer,
    clients,
    keys,
    sessions,
    creator,
    validity,
    freshness,
    credentials,
    verifier: verifiers.verifier,
    grants,
    passwords: signIn,
    ...factors,
    ...providers.pages,
    authenticators,
    users,
    records,
    ready,
    hasher,
    sourceOf,
    random,
    now,
    monotonic,
    metrics,
    log,
  });

  const election = new LeaderElection({ client, namespace, name: LEASE, identity, log });
  const rotator = new KeyRotator({
    client,
    ...location,
    policy: {
      rotationInterval: ROTATION_INTERVAL_MS,
      publishAhead: PUBLISH_AHEAD_MS,
      tokenLifetime: settings.accessTokenLifetime + LEEWAY_MS,
      // An expired browser session is kept for the sessions that began with it.
      macLifetime: settings.sessionLifetime + settings.browserSession.lifetime + LEEWAY_MS,
    },
    subscribe: (changed) => keys.subscribe(changed),
    log,
  });
  const reaper = new SessionReaper({
    sessions,
    validity,
    log,
    now,
    removed: (reason) => metrics.sessionRemoved(reason),
  });
  const logouts = new BackChannelLogout({ clients: settings.clients, tokens, sessions, log });
  const administrator = new FirstAdministrator({ ...cache, platform, users, credentials, hasher });
  const led = [administrator, rotator, reaper, logouts];
  return {
    router,
    errorFamily: oauthErrors,
    startPage: ACCOUNT_PATH,
    isPublic: isOAuthPath,
    get missing() {
      return missing();
    },
    describeProviders: () => providers.describe(),
    ...verifiers,
    tokenIDs: new TokenIDCheck(revocation),
    users,
    credentials,
    sessions,
    factors,
    groupGrants: providers.groupGrants,
    hasher,
    signIn,
    sourceOf,
    tokens,
    run: async (signal) => {
      await Promise.all([
        users.run(signal),
        credentials.run(signal),
        authenticators.run(signal),
        providers.run(signal),
        sessions.run(signal),
        clients.run(signal),
        hasher.prepare().catch((err: unknown) => log.warn({ err }, 'cannot hash passwords')),
        failures.run(signal),
        election.run(signal, async (leading) => {
          await Promise.all([...led.map((each) => each.run(leading)), factors.lead(leading)]);
        }),
      ]);
    },
  };
}
