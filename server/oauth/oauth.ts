// The token handler, put together: keys, users, sessions, clients, and the endpoints that work on them. It decides
// nothing itself. Its routes and errors are mounted by the server, its verifier and its users are used by
// authentication and by the REST of users.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { groupName } from '../../apis/iam/v1beta1/group-version.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import type { ErrorFamily } from '../filters/error-writer.ts';
import type { Handler } from '../request/request-context.ts';
import { newClientGuard } from './clients/client-guard.ts';
import { ConfiguredClients } from './clients/configured-clients.ts';
import { newElectedWork } from './elected-work.ts';
import { newPages } from './endpoints/browser/pages.ts';
import { IDTokenHints } from './endpoints/id-token-hint.ts';
import { introspectionHandler } from './endpoints/introspect.ts';
import { keysHandler } from './endpoints/keys.ts';
import { logoutHandler } from './endpoints/logout.ts';
import { metadataHandlers } from './endpoints/metadata.ts';
import { PresentedTokens } from './endpoints/presented-token.ts';
import { revocationHandler } from './endpoints/revoke.ts';
import { tokenHandler } from './endpoints/token.ts';
import { userInfoHandler } from './endpoints/userinfo.ts';
import { isOAuthPath, oauthErrors } from './error-writer.ts';
import { AuthorizationCodeGrant } from './grants/authorization-code.ts';
import { DeviceCodeGrant } from './grants/device-code.ts';
import type { Grant } from './grants/grant.ts';
import { PasswordGrant } from './grants/password.ts';
import { RefreshTokenGrant } from './grants/refresh-token.ts';
import { type SourceAddress, sourceAddress } from './http/source-address.ts';
import { SecretKeyRing } from './keys/secret-key-ring.ts';
import { OAuthMetrics } from './oauth-metrics.ts';
import { newPasswordSignIns } from './password-sign-ins.ts';
import type { PasswordHasher } from './passwords/hasher.ts';
import type { PasswordSignIn } from './passwords/sign-in.ts';
import { ClusterSessionStore } from './sessions/cluster-session-store.ts';
import { SessionOpening } from './sessions/session-opening.ts';
import type { OAuthSettings } from './settings.ts';
import { Liveness, TokenIDs } from './tokens/liveness.ts';
import { TokenIssuer } from './tokens/token-issuer.ts';
import { TokenVerifier } from './tokens/token-verifier.ts';
import { ClusterCredentialStore } from './users/cluster-credential-store.ts';
import { ClusterUserDirectory } from './users/cluster-user-directory.ts';

export interface OAuthOptions {
  readonly settings: OAuthSettings;
  readonly platform: { readonly name: string; readonly namespace: string };
  /** The URL of the handler as everybody sees it; known when the first request comes. */
  readonly issuer: () => string;
  readonly client: ClusterClient;
  /** Of this replica, as the Lease shows it; no other one has it. */
  readonly identity: string;
  /** Cores of the machine, and threads of libuv's pool. */
  readonly machine: { readonly cores: number; readonly threads: number };
  readonly log: Logger;
  readonly metrics: Registry;
}

export interface OAuth {
  /** Handlers by exact path. */
  readonly paths: ReadonlyMap<string, Handler>;
  readonly errorFamily: ErrorFamily;
  /** Whether a path needs no rights: its endpoint authenticates callers itself. */
  isPublic(path: string): boolean;
  /** Of keys, users, passwords and sessions what is not known here yet; empty when sign-ins can be answered. */
  readonly missing: readonly string[];
  readonly verifier: TokenVerifier;
  readonly tokenIDs: TokenIDs;
  readonly users: ClusterUserDirectory;
  readonly credentials: ClusterCredentialStore;
  readonly sessions: ClusterSessionStore;
  readonly hasher: PasswordHasher;
  readonly signIn: PasswordSignIn;
  readonly sourceOf: SourceAddress;
  /** Follows the cluster until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** Nothing begins before `run`. */
export function newOAuth(options: OAuthOptions): OAuth {
  const { settings, platform, issuer, client, identity, machine, log, metrics: registry } = options;
  const now = Date.now;
  const monotonic = (): number => performance.now();
  const random = randomBytes;
  const { namespace } = platform;
  const group = groupName(platform.name);
  const { audience, keys: keySettings } = settings;
  const metrics = new OAuthMetrics(registry);
  const sourceOf = sourceAddress(settings.trustedProxies);

  const place = { namespace, name: keySettings.secretName };
  const keys = new SecretKeyRing({ client, log, ...place });
  const users = new ClusterUserDirectory({ client, group, log });
  const credentials = new ClusterCredentialStore({ client, group, log });
  const sessions = new ClusterSessionStore({ client, keys, group, log, now });
  const guard = newClientGuard(settings.clients, settings.throttle, sourceOf);
  const clients = new ConfiguredClients({ clients: settings.clients, client, namespace, guard, log });
  metrics.defaultClient(clients.usesWellKnownSecret);
  const missing = (): readonly string[] => [
    ...(keys.ready ? [] : ['keys']),
    ...(users.synced ? [] : ['users']),
    ...(credentials.synced ? [] : ['passwords']),
    ...(sessions.fresh ? [] : ['sessions']),
  ];

  const liveness = new Liveness({
    sessions,
    users,
    credentials,
    acceptWhenStale: settings.acceptWhenStale,
  });
  const verifier = new TokenVerifier({
    keys,
    issuer,
    audience,
    liveness,
    cacheSize: settings.verifiedTokens,
  });
  const tokens = new TokenIssuer({ keys, issuer, audience });

  const passwords = newPasswordSignIns({
    settings,
    machine,
    ready: () => missing().length === 0,
    users,
    credentials,
    sessions,
    keys,
    client,
    namespace,
    group,
    metrics,
    log,
    now,
  });
  const { hasher, signIn } = passwords;

  const opening = new SessionOpening({
    sessions,
    sessionsPerUser: settings.sessionsPerUser,
    random,
    now,
    log,
  });
  const codes = { sessions, users, credentials, tokens, room: opening, random, now, log };
  const grants: readonly Grant[] = [
    new PasswordGrant({ signIn, sessions: opening, tokens }),
    new RefreshTokenGrant({ sessions, users, credentials, tokens, random, now, log, observer: metrics }),
    new AuthorizationCodeGrant(codes),
    new DeviceCodeGrant({ ...codes, monotonic }),
  ];
  const hints = new IDTokenHints({ keys, issuer });
  const presented = new PresentedTokens({ verifier, sessions });
  const pages = newPages({
    issuer,
    clients,
    sessions,
    credentials,
    keys,
    hints,
    passwords: signIn,
    hasher,
    sourceOf,
    random,
    now,
    monotonic,
  });
  const endpoints = new Map<string, Handler>([
    ['/oauth/token', tokenHandler({ clients, grants, sourceOf, metrics })],
    ['/oauth/revoke', revocationHandler({ clients, tokens: presented, hints, sessions, log })],
    [
      '/oauth/introspect',
      introspectionHandler({ clients, tokens: presented, users, credentials, issuer, now }),
    ],
    ['/oauth/userinfo', userInfoHandler({ verifier, users })],
    [
      '/oauth/logout',
      logoutHandler({
        verifier,
        hints,
        sessions,
        redirectsOf: (id) => clients.get(id)?.postLogoutRedirectURIs ?? [],
        log,
      }),
    ],
    ['/oauth/keys', keysHandler({ keys, publishAhead: keySettings.publishAhead })],
    ...pages,
  ]);
  const metadata = metadataHandlers({ issuer, clients: settings.clients });

  const electedWork = newElectedWork({
    settings,
    client,
    identity,
    place,
    keys,
    sessions,
    users,
    credentials,
    log,
    now,
    removed: (reason) => metrics.sessionRemoved(reason),
  });
  return {
    paths: new Map([...endpoints, ...metadata]),
    errorFamily: oauthErrors,
    isPublic: isOAuthPath,
    get missing() {
      return missing();
    },
    verifier,
    tokenIDs: new TokenIDs(liveness),
    users,
    credentials,
    sessions,
    hasher,
    signIn,
    sourceOf,
    run: async (signal) => {
      await Promise.all([
        keys.run(signal),
        users.run(signal),
        credentials.run(signal),
        sessions.run(signal),
        clients.run(signal),
        passwords.run(signal),
        electedWork.run(signal),
      ]);
    },
  };
}
