// Creates the gateway to kube-apiserver from the configuration.

import { randomBytes } from 'node:crypto';
import type { KubeConfig } from '@kubernetes/client-node';
import { decodeJwt } from 'jose';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { text } from '../../apis/reading/unknown-value.ts';
import type { RequestPools } from '../admission/admission.ts';
import type { Seats } from '../admission/seats.ts';
import { ID_TOKEN, isOwnToken } from '../authentication/access-token-authenticator.ts';
import type { Credential } from '../authentication/authenticator.ts';
import { countedAuthentication } from '../authentication/authenticator-chain.ts';
import type { Authenticators } from '../authentication/authenticators.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { ClusterConnection } from '../cluster/connection/connection.ts';
import { refusalTTL } from '../cluster/reviews.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { OAuth } from '../oauth/oauth.ts';
import type { AccessMetrics } from '../observability/access-metrics.ts';
import type { GatewayRoute } from '../request/gateway-route.ts';
import type { FollowedKinds } from '../resources/kinds/followed-kinds.ts';
import type { RecentWrites } from '../resources/recent-writes.ts';
import { Accelerator } from './acceleration/accelerator.ts';
import { CallerReviews } from './acceleration/caller-reviews.ts';
import { TableColumns } from './acceleration/table-columns.ts';
import { Gateway } from './forwarding.ts';
import { gatewayAuthenticator } from './gateway-authenticator.ts';
import { GatewayMetrics } from './gateway-metrics.ts';
import { IMPERSONATOR, ImpersonatorToken } from './impersonator-token.ts';
import { proxiedRequests } from './proxied-request.ts';
import { type CheckedTokens, TrustCheck } from './trust-check.ts';
import { Upstream, withoutUser } from './upstream.ts';

export interface GatewayParts {
  readonly route: GatewayRoute;
  /** Describes for `/readyz?verbose` whether kube-apiserver accepts the forwarded tokens, and whether the gateway can impersonate. */
  describe(): string;
  /** Background work. */
  readonly followers: readonly { run(signal: AbortSignal): Promise<void> }[];
}

interface GatewayDependencies {
  readonly client: ClusterClient;
  readonly kubeConfig: (reload: boolean) => KubeConfig;
  readonly authenticators: Authenticators;
  readonly authorizer: Authorizer;
  readonly accessMetrics: AccessMetrics;
  readonly oauth: Pick<OAuth, 'tokens' | 'idTokensAtGateway'> | undefined;
  readonly issuer: () => string;
  /** The kinds whose reads can be accelerated. */
  readonly kinds: FollowedKinds;
  /** The writes that the gateway forwards. */
  readonly writes: RecentWrites;
  /** The API groups that this server serves itself. */
  readonly ownGroups: readonly string[];
  readonly pools: Pick<RequestPools, 'gateway' | 'gatewayStreams'>;
  /** The seats of reviews in the name of callers. */
  readonly callerReviews: Seats;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly signal: AbortSignal;
}

export function newGateway(
  {
    gateway: options,
    platform,
    authentication,
    authorization: { allowCacheTTL: allowTtlMs },
  }: Pick<CompletedConfig, 'gateway' | 'platform' | 'authentication' | 'authorization'>,
  {
    client,
    kubeConfig,
    authenticators,
    authorizer,
    accessMetrics,
    oauth,
    issuer,
    kinds,
    writes,
    ownGroups,
    pools,
    callerReviews,
    log,
    metrics: registry,
    signal,
  }: GatewayDependencies,
): GatewayParts {
  const upstream = new Upstream(kubeConfig);
  const checking = new ClusterConnection({ kubeConfig: (reload) => withoutUser(kubeConfig(reload)) });
  const close = (): void => {
    upstream.close();
    checking.close();
  };
  signal.addEventListener('abort', close, { once: true });
  const pseudonym = `ks-apiserver-${randomBytes(4).toString('hex')}`;
  const monotonic = (): number => performance.now();
  const gatewayLog = log.child({ component: 'gateway' });
  const trustIn = (tokens: CheckedTokens): TrustCheck =>
    new TrustCheck({ ...tokens, client: checking, via: `1.1 ${pseudonym}`, log: gatewayLog, monotonic });
  // If the gateway impersonates the users of this server, kube-apiserver need not trust its issuer.
  const forwarded = options.impersonation === 'all' ? undefined : oauth;
  const trust = forwarded && trustIn(accessTokens(issuer, forwarded.tokens));
  const idTokenTrust = new Map(
    forwarded?.idTokensAtGateway.map((client) => [client, trustIn(idTokensOf(client, forwarded.tokens))]),
  );
  const impersonator = new ImpersonatorToken({
    client,
    namespace: platform.namespace,
    serviceAccount: IMPERSONATOR,
    log: gatewayLog,
    signal,
  });
  const authenticator = gatewayAuthenticator(authenticators, options.impersonation, authentication.anonymous);
  const accelerator = options.acceleration
    ? new Accelerator({
        kinds,
        reviews: new CallerReviews({
          client: checking,
          allowTtlMs,
          denyTtlMs: refusalTTL(allowTtlMs),
          seats: callerReviews,
          signal,
        }),
        tables: new TableColumns({ client, signal }),
        writes,
        registry,
      })
    : undefined;
  const gateway = new Gateway({
    upstream,
    accelerator,
    writes,
    pseudonym,
    impersonation: {
      mode: options.impersonation,
      token: impersonator,
      authorizer,
    },
    frontProxyHeaders: authenticators.settings.identityHeaders,
    rejection: async ({ credential, signal: aborted }) => {
      if (!isOwnToken(credential)) return undefined;
      const client = idTokenClient(credential);
      return (client === undefined ? trust : idTokenTrust.get(client))?.rejection(aborted);
    },
    metrics: new GatewayMetrics(registry, {
      requests: () => pools.gateway.held,
      streams: () => pools.gatewayStreams.held,
      trusted: () => trust?.trusted,
    }),
    monotonic,
  });
  const select = proxiedRequests(ownGroups, options.proxyHost);
  const states = [
    ...(trust ? [trust] : []),
    ...idTokenTrust.values(),
    ...(options.impersonation === 'none' ? [] : [impersonator]),
  ];
  return {
    route: {
      authenticator: countedAuthentication(authenticator, accessMetrics),
      select: (context) => {
        const proxied = select(context);
        if (!proxied || !context.secure || authenticators.isFrontProxy(context)) return undefined;
        // With a client certificate, kubectl still discovers and reads the own groups of this server.
        const isLocal =
          !proxied.info.isResourceRequest &&
          options.impersonation === 'none' &&
          authenticators.hasOnlyCertificate(context);
        return isLocal ? undefined : proxied;
      },
      serve: (context) => gateway.serve(context),
    },
    describe: () => states.map((state) => state.describe()).join('; ') || 'forwards the tokens of callers',
    followers: states,
  };
}

function accessTokens(issuer: () => string, tokens: OAuth['tokens']): CheckedTokens {
  return {
    title: () => `the tokens of ${issuer()}`,
    cure: 'add this issuer to the file of --authentication-config of kube-apiserver (docs/authentication-configuration.md), or set gateway.impersonation to "all"',
    token: () => tokens.checkToken(),
  };
}

function idTokensOf(client: string, tokens: OAuth['tokens']): CheckedTokens {
  return {
    title: () => `the ID tokens of client ${JSON.stringify(client)}`,
    cure: 'add the client to the file of --authentication-config of kube-apiserver (docs/authentication-configuration.md), or unset its option idTokensAtGateway',
    token: () => tokens.checkToken(client),
  };
}

/** Returns the client of an authenticated ID token; undefined for another credential. */
function idTokenClient(credential: Credential | undefined): string | undefined {
  if (credential?.kind !== 'token' || credential.authenticator !== ID_TOKEN) return undefined;
  return text(decodeJwt(credential.text).aud);
}
