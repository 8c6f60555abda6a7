// Accelerator: serves reads of the Kubernetes API from the caches of followed kinds if the response is one that
// kube-apiserver could have returned. All other requests are forwarded.

import { Counter, type Registry } from 'prom-client';
import { isExpired, newExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import { NEVER_ABORTED } from '../../concurrency/aborted.ts';
import type { ProxiedContext } from '../../request/gateway-route.ts';
import type { ResourceRequest } from '../../request/request-info.ts';
import { exactName, type Kind, sourcePath } from '../../resources/kind.ts';
import type { FollowedKind } from '../../resources/kinds/followed-kind.ts';
import type { FollowedKinds } from '../../resources/kinds/followed-kinds.ts';
import { objectsIn } from '../../resources/lists/objects-in.ts';
import type { KindFacts } from '../../resources/profiles/kind-values.ts';
import type { RecentWrites } from '../../resources/recent-writes.ts';
import type { Column } from '../../resources/resource-definition.ts';
import { PagedListError } from '../../rest/list.ts';
import type { ResourceHandler } from '../../rest/resource-handler.ts';
import { acceleratedKind } from './accelerated-kind.ts';
import { isKnownMedia, type Reason, type Requirement, requirementOf } from './cached-read.ts';
import type { CallerReviews } from './caller-reviews.ts';
import type { TableColumns } from './table-columns.ts';

interface AcceleratorOptions {
  readonly kinds: Pick<FollowedKinds, 'cached' | 'startable' | 'start' | 'apiServicesOutage'>;
  readonly reviews: CallerReviews;
  readonly tables: TableColumns;
  /** Shared with the lists under `/kapis`. */
  readonly writes: RecentWrites;
  readonly registry: Registry;
}

/**
 * A watch of kube-apiserver keeps its permission until it ends. Here it loses the permission within this time, in ms: 300
 * watches cost ten reviews per second.
 */
export const REVIEW_INTERVAL_MS = 30_000;
const REVOKED = 'The permission for this watch must be checked again.';
/** A media type of the header `Accept`, with the white space that kube-apiserver accepts. */
const TABLE = /\bas\s*=\s*Table\b/;
/** Minimum time in ms that a read waits for its cache. An event of a busy kind arrives earlier. */
const WAIT_MS = 20;
/** Number of objects for which the wait is 1 ms longer. A list of kube-apiserver takes four times as long for them. */
const OBJECTS_PER_MS = 40;
const MAX_WAIT_MS = 2_000;
/** Time in ms that a cache without events needs to become current (`catchUp`). */
const CATCH_UP_MS = 1_100;

export function newCachedReads(registry: Registry): Counter<'resource' | 'verb' | 'result'> {
  return new Counter({
    name: 'gateway_cached_reads_total',
    help: 'Reads that a cache could serve, by resource, verb and result: `hit`, or why the request was forwarded. Absent without `gateway.acceleration`.',
    labelNames: ['resource', 'verb', 'result'],
    registers: [registry],
  });
}

export class Accelerator {
  readonly #options: AcceleratorOptions;
  /** By the kind, or by the columns of its Tables. */
  readonly #handlers = new WeakMap<object, ResourceHandler>();
  readonly #reads: Counter<'resource' | 'verb' | 'result'>;

  constructor(options: AcceleratorOptions) {
    this.#options = options;
    this.#reads = newCachedReads(options.registry);
  }

  /**
   * Serves the request from a cache. Returns false, before any part of the response, if kube-apiserver must serve it. The
   * header `Cache-Status` then has the reason.
   */
  async serve(context: ProxiedContext): Promise<boolean> {
    const { info, response } = context;
    if (!isRead(context, info)) return false;
    const { kinds } = this.#options;
    const found = kinds.cached({ ...info, plural: info.resource });
    if (!found) void this.#start(context, info);
    const followed = found && isPathOf(info, found.kind) ? found : undefined;
    const reason = followed ? await this.#tryServe(context, info, followed) : 'kind';
    if (followed) {
      this.#reads.inc({ resource: exactName(followed.kind), verb: info.verb, result: reason ?? 'hit' });
    }
    if (reason !== undefined) response.setHeader('Cache-Status', cacheStatus(reason));
    return reason === undefined;
  }

  /**
   * Follows a kind from now on after a list or watch of all namespaces, if the caller may list all its objects. Without
   * this review, a caller without permissions could fill the caches. It does not delay the request.
   */
  async #start(context: ProxiedContext, info: ResourceRequest): Promise<void> {
    if (info.verb === 'get' || info.namespace !== '') return;
    const { kinds, reviews } = this.#options;
    const wanted = { group: info.group, version: info.version, plural: info.resource };
    const kind = kinds.startable(wanted, context.caller);
    const authorization = ownIdentity(context);
    if (!kind || !isPathOf(info, kind) || authorization === undefined) return;
    const { labelSelector: _label, fieldSelector: _field, ...all } = info;
    try {
      const allowed = await reviews.allows(
        authorization,
        { ...all, verb: 'list', name: '' },
        // The lookup of a review has a time limit of its own.
        { signal: NEVER_ABORTED, caller: context.caller },
      );
      if (allowed) kinds.start(wanted, context.caller);
    } catch {
      // The next request tries again.
    }
  }

  /** Returns undefined after the response, else the reason. */
  async #tryServe(
    context: ProxiedContext,
    info: ResourceRequest,
    followed: FollowedKind,
  ): Promise<Reason | undefined> {
    const { request, response, signal } = context;
    if (/\bno-cache\b/i.test(request.headers['cache-control'] ?? '')) return 'no-cache';
    const requirement = requirementOf(info, context.query);
    if (typeof requirement === 'string') return requirement;
    const authorization = ownIdentity(context);
    if (authorization === undefined) return 'identity';
    const { accept: [accept = '', ...others] = [] } = request.headersDistinct;
    // kube-apiserver reads the first header only.
    if (others.length > 0 || !isKnownMedia(info, accept)) return 'media-type';
    const isTable = TABLE.test(accept);
    if (isTable && !followed.profile.columns) return 'columns';
    try {
      if (!(await this.#options.reviews.allows(authorization, info, context))) return 'permission';
      const columns = isTable ? await this.#options.tables.of(followed, context) : undefined;
      if (isTable && !columns) return 'columns';
      const late = await this.#late(followed, requirement, info.namespace, context);
      if (late !== undefined) return late;
      const key = followed.kind.namespaced ? `${info.namespace}/${info.name}` : info.name;
      if (followed.stopped.aborted) return 'kind';
      if (info.verb === 'get' && !followed.cache.snapshot().get(key)) return 'absent';
      if ((isTable || context.query.has('fieldSelector')) && !isExact(followed, info)) return 'values';
      response.setHeader('Cache-Status', 'ks-apiserver; hit');
      if (requirement.freshness === 'any') response.setHeader('Age', Math.floor(followed.ageMs / 1000));
      const handler = this.#handler(followed, columns);
      await this.#serve(context, info, followed, authorization, handler);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (response.headersSent) throw error;
      response.removeHeader('Age');
      if (error instanceof PagedListError) return 'pages';
      if (isExpired(error)) return 'expired';
      if (error instanceof StatusError) return error.code === 406 ? 'media-type' : 'error';
      throw error;
    }
  }

  /** Returns the reason if the cache does not meet the requirement in time. */
  async #late(
    followed: FollowedKind,
    requirement: Requirement,
    namespace: string,
    { user, signal }: ProxiedContext,
  ): Promise<Reason | undefined> {
    // Later pages would each wait again.
    if (requirement.freshness === 'exact') {
      return followed.proof.contains(requirement.version) ? undefined : 'behind';
    }
    const objects = namespace === '' ? followed.objects : followed.cache.snapshot().count(namespace);
    const limit = 'limit' in requirement && requirement.limit > 0 ? requirement.limit : objects;
    const waitMs = Math.min(MAX_WAIT_MS, WAIT_MS + Math.min(limit, objects) / OBJECTS_PER_MS);
    if (requirement.freshness === 'current') {
      // Without events, the cache learns of the current resourceVersion too late.
      if (waitMs < CATCH_UP_MS && followed.ageMs > waitMs) return 'quiet';
      return (await followed.proof.prove(waitMs, signal)) ? undefined : 'behind';
    }
    const { writes } = this.#options;
    const { kind } = followed;
    if (writes.pending(user, kind, followed)) {
      if (!(await writes.contained(user, kind, followed, waitMs, signal))) return 'behind';
    }
    if (requirement.freshness === 'any') return undefined;
    return (await followed.proof.reached(requirement.version, waitMs, signal)) ? undefined : 'behind';
  }

  #handler(followed: FollowedKind, columns: readonly Column<KindFacts>[] | undefined): ResourceHandler {
    const key = columns ?? followed;
    let handler = this.#handlers.get(key);
    if (!handler) {
      handler = acceleratedKind(followed, columns);
      this.#handlers.set(key, handler);
    }
    return handler;
  }

  async #serve(
    context: ProxiedContext,
    info: ResourceRequest,
    followed: FollowedKind,
    authorization: string,
    handler: ResourceHandler,
  ): Promise<void> {
    if (info.verb !== 'watch') return handler(context);
    const ending = new AbortController();
    const timer = setInterval(() => {
      void this.#stillAllowed(authorization, info, context).then((allowed) => {
        if (!allowed) ending.abort(newExpired(REVOKED));
      });
    }, REVIEW_INTERVAL_MS);
    // kube-apiserver ends the watches of a kind without an error too, after a change of its CustomResourceDefinition.
    const stop = (): void => ending.abort();
    followed.stopped.addEventListener('abort', stop);
    try {
      await handler(context, ending.signal);
    } finally {
      clearInterval(timer);
      followed.stopped.removeEventListener('abort', stop);
    }
  }

  /** Without a decision, the watch ends too, and the client continues it at kube-apiserver. */
  async #stillAllowed(
    authorization: string,
    info: ResourceRequest,
    context: ProxiedContext,
  ): Promise<boolean> {
    try {
      // The kind can belong to an aggregated API now.
      if (this.#options.kinds.apiServicesOutage) return false;
      return await this.#options.reviews.allows(authorization, info, context);
    } catch {
      return context.signal.aborted;
    }
  }
}

/** Returns true for a get, list or watch of objects. A subresource and an upgrade are forwarded. */
function isRead({ request, upgrade }: ProxiedContext, info: ProxiedContext['info']): info is ResourceRequest {
  if (!info.isResourceRequest || request.method !== 'GET' || upgrade || info.subresource !== '') return false;
  return info.verb === 'get' || info.verb === 'list' || info.verb === 'watch';
}

/** Returns false if a value of an object in the scope of the request is unknown. The scopes of other tenants are not affected. */
function isExact({ cache, kind, profile }: FollowedKind, { namespace, name }: ResourceRequest): boolean {
  if (profile.isExact()) return true;
  const snapshot = cache.snapshot();
  if (name !== '' && (namespace !== '' || !kind.namespaced)) {
    return snapshot.get(kind.namespaced ? `${namespace}/${name}` : name)?.facts.isExact ?? true;
  }
  for (const objects of objectsIn(snapshot, kind.namespaced && namespace !== '' ? [namespace] : undefined)) {
    if (objects.some(({ facts }) => !facts.isExact)) return false;
  }
  return true;
}

/**
 * Returns true if kube-apiserver serves the kind at this path. Other paths have the attributes of other permissions, for instance
 * `/api/v1/deployments.apps` those of the core group, and `/api/v1/namespaces/a/namespaces` those of the namespace `a`.
 */
function isPathOf({ path, namespace, parts }: ResourceRequest, kind: Kind): boolean {
  const all = sourcePath(kind);
  const inNamespace = `${all.slice(0, -kind.plural.length)}namespaces/${namespace}/${kind.plural}`;
  const list = kind.namespaced && namespace !== '' ? inNamespace : all;
  return path === [list, ...parts.slice(1)].join('/');
}

/** Returns the `Authorization` header of a caller that acts as itself; undefined for any other caller. */
function ownIdentity({ request: { headers }, credential }: ProxiedContext): string | undefined {
  if (credential?.kind !== 'token') return undefined;
  for (const name in headers) {
    if (name.startsWith('impersonate-')) return undefined;
  }
  return `Bearer ${credential.text}`;
}

/** The header of RFC 9211. */
function cacheStatus(reason: Reason): string {
  const stale = reason === 'behind' || reason === 'quiet' || reason === 'expired';
  const forwarded = reason === 'kind' ? 'miss' : stale ? 'stale' : 'bypass';
  return `ks-apiserver; fwd=${forwarded}; detail=${reason}`;
}
