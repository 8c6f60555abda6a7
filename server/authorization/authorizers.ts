// Creates the authorizer of all requests, and the namespaces in which callers have permissions, from the configuration.

import type { Seats } from '../admission/seats.ts';
import { type ClusterReviews, refusalTTL } from '../cluster/reviews.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { AccessMetrics } from '../observability/access-metrics.ts';
import { NAMESPACES, ROLE_BINDINGS } from '../resources/kind.ts';
import type { KindCopies } from '../resources/kinds/kind-copies.ts';
import { AccessReviewAuthorizer } from './access-review.ts';
import type { Authorizer } from './authorizer.ts';
import { countedAuthorization } from './counted-authorization.ts';
import { delegatingAuthorizer } from './delegating-authorizer.ts';
import { NamespaceScopes } from './namespace-scopes.ts';
import { Namespaces } from './namespaces.ts';
import { RoleBindings } from './role-bindings.ts';

interface Authorizers {
  readonly authorizer: Authorizer;
  /** The namespaces in which a caller has a permission. */
  readonly scopes: NamespaceScopes;
}

interface AuthorizersDependencies {
  readonly copies: Pick<KindCopies, 'hold'>;
  readonly reviews: ClusterReviews;
  /** The seats of reviews. */
  readonly lookups: Seats;
  /** The seats of the reviews of namespaces. */
  readonly namespaceReviews: Seats;
  /** Aborts pending reviews. */
  readonly signal: AbortSignal;
  readonly metrics: AccessMetrics;
  /** Returns true for a path whose endpoint authenticates callers itself. */
  readonly isSignInPath: (path: string) => boolean;
}

export function newAuthorizers(
  { authorization }: Pick<CompletedConfig, 'authorization'>,
  dependencies: AuthorizersDependencies,
): Authorizers {
  const { copies, reviews, lookups, namespaceReviews, signal, metrics, isSignInPath } = dependencies;
  const authorizing = (seats: Seats, allowTtlMs: number, denyTtlMs: number): Authorizer =>
    delegatingAuthorizer(
      new AccessReviewAuthorizer({ reviews, allowTtlMs, denyTtlMs, seats, signal }),
      isSignInPath,
    );
  const { allowCacheTTL, reviewAllNamespaces } = authorization;
  const denyCacheTTL = refusalTTL(allowCacheTTL);
  const namespaces = new Namespaces(copies.hold(NAMESPACES));
  const bindings = reviewAllNamespaces ? undefined : new RoleBindings(copies.hold(ROLE_BINDINGS));
  return {
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
  };
}
