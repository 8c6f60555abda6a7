// Permission checks under `/kapis`, by the permissions of kube-apiserver, for instance `list pods`. A list contains
// only the namespaces in which the caller may list the kind.
import { newForbidden } from '../../apis/meta/v1/errors.ts';
import type { Authorizer, ResourceAttributes } from '../authorization/authorizer.ts';
import { forbiddenMessage } from '../authorization/forbidden-message.ts';
import type { CallerScope, NamespaceScopes, ScopedPermission } from '../authorization/namespace-scopes.ts';
import type { RequestContext } from '../request/request-context.ts';
import { selectedBy } from '../request/request-info.ts';
import { searchIn } from '../request/request-path.ts';
import type { Kind } from '../resources/kind.ts';
import type { ListScope } from './kind-lists.ts';

interface ListAccessOptions {
  /** The group of this server, which also serves nodes. */
  readonly group: string;
  /** Cached. */
  readonly authorizer: Authorizer;
  readonly scopes: Pick<NamespaceScopes, 'of' | 'within'>;
}

/** Checks permissions, and computes the scope of lists. */
export class ListAccess {
  readonly #options: ListAccessOptions;

  constructor(options: ListAccessOptions) {
    this.#options = options;
  }

  async checkGet(context: RequestContext, kind: Kind, namespace: string, name: string): Promise<void> {
    // As in kube-apiserver, the permission to get a namespace can be granted in the namespace itself.
    const scope = isNamespaces(kind) ? name : namespace;
    const denied = await this.#denial(context, attributesOf(context, kind, 'get', scope, name));
    if (denied) throw denied();
  }

  /**
   * Returns the namespaces that the caller may list at a path; everything if it may list all objects at the path, or
   * those that the selectors of the query select. `namespace`: that of the path. Throws Forbidden if the caller may list
   * the kind neither in this namespace, nor in the cluster, nor in any namespace.
   */
  async pathScope(context: RequestContext, kind: Kind, namespace: string): Promise<CallerScope> {
    const { name, ...selectors } = selectedBy(searchIn(context.request.url ?? ''));
    const attributes = { ...attributesOf(context, kind, 'list', namespace, name), ...selectors };
    const denied = await this.#denial(context, attributes);
    if (!denied) return EVERYTHING;
    if (namespace === '' && isScoped(kind)) {
      const scope = await this.#scopeWithin(context, kind, undefined);
      if (scope.everything || scope.namespaces.length > 0) return scope;
    }
    throw denied();
  }

  /**
   * Returns the namespaces of a list. `path`: the result of pathScope. `selected`: the namespaces of the query. Throws
   * Forbidden if the caller may list the kind in none of them.
   */
  async listScope(
    context: RequestContext,
    kind: Kind,
    { namespace, path, selected }: ListTarget,
  ): Promise<ListScope> {
    if (namespace !== '') {
      const isSelected = selected?.includes(namespace) ?? true;
      return { namespaces: isSelected ? [namespace] : [], partial: false };
    }
    const wanted = selected && [...new Set(selected)].sort();
    if (path.everything) return { namespaces: wanted, partial: false };
    const scope = wanted ? await this.#scopeWithin(context, kind, wanted) : path;
    if (scope.everything) return { namespaces: wanted, partial: false };
    if (scope.namespaces.length === 0) {
      const [first] = wanted ?? [];
      const denied = await this.#denial(context, attributesOf(context, kind, 'list', first ?? '', ''));
      if (denied) throw denied();
    }
    const isPartial = wanted === undefined || scope.namespaces.length < wanted.length;
    return { namespaces: scope.namespaces.map(({ name }) => name), partial: isPartial };
  }

  /**
   * The namespaces in which the caller may list a kind. A RoleBinding can also grant the permission to list the kind
   * Namespace; it then applies to the namespace of the RoleBinding.
   */
  scope(context: RequestContext, kind: Kind, wanted: readonly string[] | undefined): Promise<CallerScope> {
    return this.#options.scopes.of(context.user, listPermission(kind), wanted, context);
  }

  /** The same for a caller who was denied the permission for the whole cluster, which needs no second review. */
  #scopeWithin(
    context: RequestContext,
    kind: Kind,
    wanted: readonly string[] | undefined,
  ): Promise<CallerScope> {
    return this.#options.scopes.within(context.user, listPermission(kind), wanted, context);
  }

  /** Returns true if the caller may list a kind in the whole cluster. */
  async mayList(context: RequestContext, kind: Kind): Promise<boolean> {
    return (await this.#denial(context, attributesOf(context, kind, 'list', '', ''))) === undefined;
  }

  /**
   * Returns a function that creates the Forbidden error of kube-apiserver; undefined if the permission exists. Creating
   * an error takes longer than the check, and a partial list does not need it.
   */
  async #denial(context: RequestContext, attributes: ResourceAttributes): Promise<(() => Error) | undefined> {
    const { authorizer, group } = this.#options;
    // Nodes are also served by the group of this server, which has permissions of its own.
    const own = attributes.group === '' && attributes.resource === 'nodes' ? [{ ...attributes, group }] : [];
    let denied: (() => Error) | undefined;
    for (const tried of [...own, attributes]) {
      const decision = await authorizer.authorize(tried, context);
      if (decision.allowed) return undefined;
      denied ??= () => newForbidden(tried, tried.name, forbiddenMessage(tried, decision.reason));
    }
    return denied;
  }
}

const EVERYTHING: CallerScope = { everything: true };

interface ListTarget {
  /** The namespace of the path; empty for all namespaces. */
  readonly namespace: string;
  readonly path: CallerScope;
  readonly selected: readonly string[] | undefined;
}

function listPermission({ group, version, plural }: Kind): ScopedPermission {
  return { verb: 'list', group, version, resource: plural, subresource: '' };
}

function isNamespaces({ group, plural }: Kind): boolean {
  return group === '' && plural === 'namespaces';
}

/** Returns true if a caller can have the permission for a part of the objects, by namespace. */
export function isScoped(kind: Kind): boolean {
  return kind.namespaced || isNamespaces(kind);
}

function attributesOf(
  { user }: RequestContext,
  { group, version, plural }: Kind,
  verb: string,
  namespace: string,
  name: string,
): ResourceAttributes {
  return { user, verb, group, version, resource: plural, subresource: '', namespace, name };
}
