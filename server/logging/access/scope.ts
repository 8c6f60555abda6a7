// Scope of a log query: the namespaces in which the caller may `get pods/log`. Log queries fail if the permissions
// cannot be checked.
import type { UserInfo } from '../../authentication/user.ts';
import type { NamespaceScopes } from '../../authorization/namespace-scopes.ts';
import { nameMatcher } from '../matching/name-filter.ts';
import { instantOf } from '../store/instant.ts';
import type { NameFilter, Scope } from '../store/log-store.ts';

const GET_POD_LOGS = { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log' };

export class Scopes {
  readonly #scopes: Pick<NamespaceScopes, 'of'>;

  constructor(scopes: Pick<NamespaceScopes, 'of'>) {
    this.#scopes = scopes;
  }

  /** The scope of the caller for the namespaces of a query. Throws ServiceUnavailable if the cluster is unavailable. */
  async of(
    user: UserInfo,
    filter: NameFilter | undefined,
    call: { readonly signal: AbortSignal },
  ): Promise<Scope> {
    // A filter by substrings requires a check of all namespaces. Otherwise the response time would reveal which
    // namespaces exist.
    const scope = await this.#scopes.of(user, GET_POD_LOGS, filter?.exact, call);
    if (scope.everything) return scope;
    const isSelected = nameMatcher(filter);
    const namespaces = scope.namespaces
      .filter(({ name }) => isSelected(name))
      // Whole seconds: includes the lines of an earlier namespace of the same name in the same second.
      .map(({ name, createdAt }) => ({ name, since: instantOf(createdAt) }));
    return { everything: false, namespaces };
  }
}
