// The endpoints of the authorization server, with their paths and methods.
import type { Router } from 'express';
import type { Logger } from 'pino';
import { endpoint, newRouter } from '../http/endpoint.ts';
import type { ClientRegistry, ConfiguredClient } from './clients/oauth-client.ts';
import { startAgain } from './endpoints/browser/browser-handler.ts';
import { BrowserSessions, type BrowserSessionsOptions } from './endpoints/browser/browser-sessions.ts';
import { logoutHandler } from './endpoints/browser/logout.ts';
import { newPages, type PagesOptions } from './endpoints/browser/pages.ts';
import {
  SIGNED_OUT_PATH,
  UpstreamSignOut,
  type UpstreamSignOutOptions,
} from './endpoints/browser/upstream-sign-out.ts';
import { introspectionHandler } from './endpoints/introspect.ts';
import { IDTokenHints, PresentedTokens } from './endpoints/presented-tokens.ts';
import { PushedRequests } from './endpoints/pushed-requests.ts';
import { revocationHandler } from './endpoints/revoke.ts';
import {
  AUTHORIZATION_SERVER,
  keysHandler,
  type MetadataSource,
  metadataHandler,
} from './endpoints/server-metadata.ts';
import { type TokenEndpointOptions, tokenHandler } from './endpoints/token.ts';
import { userInfoHandler } from './endpoints/userinfo.ts';
import { only } from './http/oauth-response.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { PUBLISH_AHEAD_MS } from './keys/key-rotator.ts';
import { Seal } from './keys/seal.ts';
import type { SessionStore } from './sessions/session.ts';
import type { SessionValidity } from './sessions/session-validity.ts';
import type { AccessTokenVerifier } from './tokens/access-token.ts';

interface OAuthRouterOptions
  extends Omit<PagesOptions, 'hints' | 'browsers' | 'pushed' | 'upstreamSignOut'>,
    Pick<UpstreamSignOutOptions, 'providerSignOut'>,
    BrowserSessionsOptions,
    Pick<TokenEndpointOptions, 'grants' | 'metrics'> {
  readonly clients: ClientRegistry & { get(id: string): ConfiguredClient | undefined };
  readonly configuredClients: MetadataSource['clients'];
  readonly keys: KeyRing;
  readonly sessions: SessionStore;
  readonly validity: SessionValidity;
  readonly verifier: AccessTokenVerifier;
  readonly log: Logger;
}

/** The endpoints under `/oauth`, the account page, and the metadata of RFC 8414. */
export function newOAuthRouter(options: OAuthRouterOptions): Router {
  const { configuredClients, clients, keys, sessions, verifier, issuer, log } = options;
  const hints = new IDTokenHints({ keys, issuer });
  const tokens = new PresentedTokens({ verifier, sessions });
  const browsers = new BrowserSessions(options);
  const pushed = new PushedRequests({
    ...options,
    requestSeal: new Seal(keys, 'pushed authorization request'),
  });
  const upstreamSignOut = new UpstreamSignOut(options);
  const pages = newPages({ ...options, hints, browsers, pushed, upstreamSignOut });
  const metadata = endpoint(metadataHandler({ issuer, clients: configuredClients }));
  const token = tokenHandler(options);
  const revoke = revocationHandler({ clients, tokens, hints, sessions, log });
  const introspect = introspectionHandler({ ...options, tokens });
  const userInfo = endpoint(userInfoHandler(options));
  const logout = endpoint(logoutHandler({ ...options, hints, browsers, upstreamSignOut }));
  const jwks = keysHandler({ keys, publishAhead: PUBLISH_AHEAD_MS });
  const endpoints = newRouter();
  endpoints.route('/token').post(endpoint(token)).all(only('POST'));
  endpoints.route('/par').post(endpoint(pushed.handler)).all(only('POST'));
  endpoints.route('/revoke').post(endpoint(revoke)).all(only('POST'));
  endpoints.route('/introspect').post(endpoint(introspect)).all(only('POST'));
  endpoints.route('/userinfo').get(userInfo).post(userInfo).all(only('GET, HEAD, POST'));
  // HEAD is not allowed, because it must be safe.
  endpoints.route('/logout').head(only('GET, POST')).get(logout).post(logout).all(only('GET, POST'));
  endpoints.route('/keys').get(endpoint(jwks)).all(only('GET, HEAD'));
  endpoints.route('/.well-known/openid-configuration').get(metadata).all(only('GET, HEAD'));
  const router = newRouter();
  router.use('/oauth', endpoints);
  router.use(pages);
  router.route(SIGNED_OUT_PATH).get(endpoint(upstreamSignOut.returned)).all(startAgain('GET', options));
  router.route(AUTHORIZATION_SERVER).get(metadata).all(only('GET, HEAD'));
  return router;
}
