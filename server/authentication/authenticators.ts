// Creates the authenticators of all requests from the configuration.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Seats } from '../admission/seats.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { type ClusterReviews, refusalTTL } from '../cluster/reviews.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { AccessMetrics } from '../observability/access-metrics.ts';
import {
  AccessTokenAuthenticator,
  IDTokenAuthenticator,
  type TokenVerifier,
} from './access-token-authenticator.ts';
import { ClusterAuthentication } from './authentication-config.ts';
import type {
  AuthenticationRequest,
  Authenticator,
  Identification,
  ImmediateAuthenticator,
} from './authenticator.ts';
import {
  AuthenticatorChain,
  BearerTokenAuthenticator,
  countedAuthentication,
} from './authenticator-chain.ts';
import { ambient } from './browser-request.ts';
import { ClientCertificateAuthenticator } from './client-certificate.ts';
import { FrontProxyAuthenticator } from './front-proxy.ts';
import { FrontProxyStatus } from './front-proxy-status.ts';
import { PeerCertificates } from './peer-certificates.ts';
import {
  type SessionCheck,
  sessionCheck,
  sessionCheckedAuthentication,
  sessionCheckedTokens,
  type TokenIDChecker,
} from './session-check.ts';
import { TokenReviewAuthenticator } from './token-review.ts';

export interface Authenticators {
  /** The authentication settings that kube-apiserver publishes. `run` watches them. */
  readonly settings: ClusterAuthentication;
  readonly frontProxyStatus: FrontProxyStatus;
  /** For all requests that this server handles itself. */
  readonly authenticator: Authenticator;
  /** The credentials of callers, without those of the front proxy. */
  readonly certificates: ImmediateAuthenticator;
  readonly tokens: Authenticator;
  /** Checks the session of a running stream. Undefined if the authorization server is disabled. */
  readonly checkSession: SessionCheck | undefined;
  /** Throws Unauthorized if the client certificate, or the token of another issuer, of a running stream is not valid any more. */
  checkCredential(context: AuthenticationRequest): Identification;
  /** Returns true for a request that kube-apiserver forwards. */
  isFrontProxy(context: Pick<AuthenticationRequest, 'request' | 'secure'>): boolean;
  /** Returns true for a connection with the certificate of kube-apiserver as a front proxy. */
  isFrontProxyPeer(connection: Socket): boolean;
  /** Returns true for a request with a valid client certificate of a user and no other credentials. */
  hasOnlyCertificate(context: Pick<AuthenticationRequest, 'request' | 'secure'>): boolean;
}

interface AuthenticatorsDependencies {
  readonly client: ClusterClient;
  readonly reviews: ClusterReviews;
  /** The seats of TokenReviews. */
  readonly lookups: Seats;
  readonly log: Logger;
  /** Aborts pending reviews. */
  readonly signal: AbortSignal;
  readonly metrics: AccessMetrics;
  /** The authorization server. Its tokens are verified without a TokenReview. Undefined if it is disabled. */
  readonly oauth:
    | {
        readonly verifier: TokenVerifier;
        readonly idTokens: TokenVerifier;
        readonly tokenIDs: TokenIDChecker;
      }
    | undefined;
  /** Returns true for a request that kube-apiserver could respond to, and in which ID tokens are accepted. */
  readonly isKubernetesAPI: (request: IncomingMessage) => boolean;
  /** Returns true for a request whose endpoint authenticates callers itself. */
  readonly isSignIn: (request: IncomingMessage) => boolean;
  /** Returns true for a request to the host that has only pages of backends. */
  readonly isAtProxyHost: (request: IncomingMessage) => boolean;
}

export function newAuthenticators(
  { authentication, cors }: Pick<CompletedConfig, 'authentication' | 'cors'>,
  dependencies: AuthenticatorsDependencies,
): Authenticators {
  const { client, reviews, lookups, log, signal, metrics, oauth } = dependencies;
  const { isKubernetesAPI, isSignIn, isAtProxyHost } = dependencies;
  const settings = new ClusterAuthentication({ client, log });
  const frontProxyStatus = new FrontProxyStatus(settings, log);
  const peers = new PeerCertificates();
  const tokenReview = new TokenReviewAuthenticator({
    reviews,
    successTtlMs: authentication.tokenCacheTTL,
    failureTtlMs: refusalTTL(authentication.tokenCacheTTL),
    seats: lookups,
    onLookup: (hit) => metrics.tokenLookedUp(hit),
    signal,
  });
  const frontProxy = new FrontProxyAuthenticator(settings, peers, frontProxyStatus);
  const clientCertificates = new ClientCertificateAuthenticator(settings, peers);
  const certificates = ambient(clientCertificates, {
    allowedOrigins: cors.allowedOrigins,
    // Pages of other origins lead to the sign-in pages. The pages of the proxy host are foreign themselves.
    ignored: (request) => isAtProxyHost(request) || isSignIn(request),
  });
  const tokens = new BearerTokenAuthenticator(
    oauth
      ? [
          new AccessTokenAuthenticator(oauth.verifier),
          new IDTokenAuthenticator(oauth.idTokens, isKubernetesAPI),
          sessionCheckedTokens(tokenReview, oauth.tokenIDs),
        ]
      : [tokenReview],
    isSignIn,
  );
  const authenticator = new AuthenticatorChain(
    [oauth ? sessionCheckedAuthentication(frontProxy, oauth.tokenIDs) : frontProxy, certificates, tokens],
    { anonymous: authentication.anonymous },
  );
  return {
    settings,
    frontProxyStatus,
    authenticator: countedAuthentication(authenticator, metrics),
    certificates,
    tokens,
    checkSession: oauth && sessionCheck(oauth.tokenIDs),
    checkCredential: (context) => {
      const { credential } = context;
      if (credential?.kind === 'certificate') return clientCertificates.authenticate(context);
      // The tokens of this server belong to a session.
      const isReviewed = credential?.authenticator === tokenReview.name;
      return isReviewed ? tokenReview.authenticate({ text: credential.text }, context) : undefined;
    },
    isFrontProxy: (context) => frontProxy.recognises(context),
    isFrontProxyPeer: (connection) => frontProxy.hasCertificate(connection),
    hasOnlyCertificate: (context) =>
      context.request.headers.authorization === undefined && clientCertificates.recognises(context),
  };
}
