// Creates the authenticators and the authorizer from the configuration.
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Seats } from './admission/seats.ts';
import { AccessTokenAuthenticator } from './authentication/access-token.ts';
import { ClusterAuthentication } from './authentication/authentication-config.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import {
  AuthenticatorChain,
  BearerTokenAuthenticator,
  countedAuthentication,
} from './authentication/authenticator-chain.ts';
import { ambient } from './authentication/browser-request.ts';
import { ClientCertificateAuthenticator } from './authentication/client-certificate.ts';
import { FrontProxyAuthenticator } from './authentication/front-proxy.ts';
import { FrontProxyStatus } from './authentication/front-proxy-status.ts';
import { PeerCertificates } from './authentication/peer-certificates.ts';
import {
  sessionCheck,
  sessionCheckedAuthentication,
  sessionCheckedTokens,
} from './authentication/session-check.ts';
import { TokenReviewAuthenticator } from './authentication/token-review.ts';
import { AccessReviewAuthorizer } from './authorization/access-review.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { countedAuthorization } from './authorization/counted-authorization.ts';
import { delegatingAuthorizer } from './authorization/delegating-authorizer.ts';
import { NamespaceScopes } from './authorization/namespace-scopes.ts';
import { Namespaces } from './authorization/namespaces.ts';
import { RoleBindings } from './authorization/role-bindings.ts';
import type { ClusterClient } from './cluster/connection/client.ts';
import { ClusterReviews } from './cluster/reviews.ts';
import type { CompletedConfig } from './config.ts';
import type { SessionCheck } from './filters/session-termination.ts';
import type { GatewayCredentials } from './gateway/gateway-authenticator.ts';
import { atHost } from './gateway/proxied-request.ts';
import type { OAuth } from './oauth/oauth.ts';
import { AccessMetrics } from './observability/access-metrics.ts';
import type { RequestContext } from './request/request-context.ts';
import { pathIn } from './request/request-path.ts';

export interface Access {
  /** The credentials that the gateway accepts. */
  readonly gatewayCredentials: GatewayCredentials;
  /** The authentication settings that kube-apiserver publishes. `run` watches them. */
  readonly settings: ClusterAuthentication;
  readonly metrics: AccessMetrics;
  /** Returns true for a request that kube-apiserver forwards. */
  isFrontProxy(context: Pick<RequestContext, 'request' | 'secure'>): boolean;
  /** Returns true for a connection with the certificate of kube-apiserver as a front proxy. */
  isFrontProxyPeer(connection: Socket): boolean;
  /** Returns true for a request with a valid client certificate of a user and no other credentials. */
  hasOnlyCertificate(context: Pick<RequestContext, 'request' | 'secure'>): boolean;
  readonly frontProxyStatus: FrontProxyStatus;
  readonly authenticator: Authenticator;
  /** Checks the session of a running stream. Undefined if the authorization server is disabled. */
  readonly checkSession: SessionCheck | undefined;
  readonly authorizer: Authorizer;
  /** The namespaces in which a caller has a permission. */
  readonly scopes: NamespaceScopes;
  /** Background work. */
  readonly followers: readonly { run(signal: AbortSignal): Promise<void> }[];
}

export interface AccessDependencies {
  readonly client: ClusterClient;
  /** The seats of reviews and TokenReviews. */
  readonly lookups: Seats;
  /** The seats of the reviews of namespaces. */
  readonly namespaceReviews: Seats;
  readonly log: Logger;
  /** Aborts pending reviews. */
  readonly signal: AbortSignal;
  readonly metrics: Registry;
  /** The authorization server. Its tokens are verified without a TokenReview. Undefined if it is disabled. */
  readonly oauth: Pick<OAuth, 'verifier' | 'tokenIDs' | 'isPublic'> | undefined;
}

export function newAccess(
  config: Pick<CompletedConfig, 'authentication' | 'authorization' | 'cors'> & {
    readonly gateway: Pick<CompletedConfig['gateway'], 'proxyHost'>;
  },
  { client, lookups, namespaceReviews, log, signal, oauth, metrics: registry }: AccessDependencies,
): Access {
  const metrics = new AccessMetrics(registry);
  const settings = new ClusterAuthentication({ client, log });
  const frontProxyStatus = new FrontProxyStatus(settings, log);
  const reviews = new ClusterReviews(client, metrics);
  const peers = new PeerCertificates();
  const { tokenCacheTTL, refusedTokenCacheTTL, anonymous } = config.authentication;
  const tokenReview = new TokenReviewAuthenticator({
    reviews,
    successTtlMs: tokenCacheTTL,
    failureTtlMs: refusedTokenCacheTTL,
    seats: lookups,
    onLookup: (hit) => metrics.tokenLookedUp(hit),
    signal,
  });
  const frontProxy = new FrontProxyAuthenticator(settings, peers, frontProxyStatus);
  const isAtProxyHost = atHost(config.gateway.proxyHost);
  const clientCertificates = new ClientCertificateAuthenticator(settings, peers);
  const certificates = ambient(clientCertificates, {
    allowedOrigins: config.cors.allowedOrigins,
    // Pages of other origins lead to the sign-in pages. The pages of the proxy host are foreign themselves.
    ignored: (request) => isAtProxyHost(request) || (oauth?.isPublic(pathIn(request.url ?? '')) ?? false),
  });
  const accessTokens = oauth && new AccessTokenAuthenticator(oauth.verifier);
  const tokens = new BearerTokenAuthenticator(
    oauth && accessTokens ? [accessTokens, sessionCheckedTokens(tokenReview, oauth.tokenIDs)] : [tokenReview],
    ({ url = '' }) => oauth?.isPublic(pathIn(url)) ?? false,
  );
  const authenticator = new AuthenticatorChain(
    [oauth ? sessionCheckedAuthentication(frontProxy, oauth.tokenIDs) : frontProxy, certificates, tokens],
    { anonymous },
  );
  const authorizing = (seats: Seats, allowTtlMs: number, denyTtlMs: number): Authorizer =>
    delegatingAuthorizer(
      new AccessReviewAuthorizer({ reviews, allowTtlMs, denyTtlMs, seats, signal }),
      (path) => oauth?.isPublic(path) ?? false,
    );
  const { allowCacheTTL, denyCacheTTL, reviewAllNamespaces } = config.authorization;
  const namespaces = new Namespaces({ client, log });
  const bindings = reviewAllNamespaces ? undefined : new RoleBindings({ client, log });
  return {
    gatewayCredentials: { certificates, tokens },
    metrics,
    isFrontProxy: (context) => frontProxy.recognises(context),
    isFrontProxyPeer: (connection) => frontProxy.hasCertificate(connection),
    hasOnlyCertificate: (context) =>
      context.request.headers.authorization === undefined && clientCertificates.recognises(context),
    settings,
    frontProxyStatus,
    authenticator: countedAuthentication(authenticator, metrics),
    checkSession: oauth && sessionCheck(oauth.tokenIDs),
    authorizer: countedAuthorization(authorizing(lookups, allowCacheTTL, denyCacheTTL), metrics),
    scopes: new NamespaceScopes({
      // It caches the permissions itself.
      authorizer: authorizing(namespaceReviews, 0, 0),
      namespaces: () => namespaces.all(),
      ...(bindings ? { candidates: (user) => bindings.candidates(user) } : {}),
      allowTtlMs: allowCacheTTL,
      denyTtlMs: denyCacheTTL,
      signal,
    }),
    followers: [settings, namespaces, ...(bindings ? [bindings] : [])],
  };
}
