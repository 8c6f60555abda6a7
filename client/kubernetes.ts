// Kubernetes: requests that the gateway of the server forwards to kube-apiserver as the caller.
import { type ExecOptions, exec, type Shell, type WebSocketConstructor } from './exec.ts';
import type { KubernetesList, KubernetesObject } from './kubernetes-object.ts';
import { linesIn } from './line-splitter.ts';
import type { StreamOptions } from './reconnecting.ts';
import { ACCEPT_DISCOVERY, type GroupDiscoveryList, type ServedKind, servedKinds } from './served-kinds.ts';
import { StatusError } from './status-error.ts';
import { type Query, type RequestOptions, segment, type Transport } from './transport.ts';
import { type WatchEvent, watch } from './watch.ts';

export interface KubernetesOptions {
  /** Parameters of kube-apiserver, for example `{ fieldManager: 'console', dryRun: 'All' }`. */
  readonly query?: Query | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An action, as in a SelfSubjectAccessReview. Without `namespace`: in all namespaces. */
export interface AccessAttributes {
  readonly verb: string;
  /** The plural, for example `deployments`. */
  readonly resource: string;
  /** For example `apps`. */
  readonly group?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `apply` is a server-side apply, which needs the parameter `fieldManager`. */
export type PatchType = 'merge' | 'json' | 'strategic' | 'apply';

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** A page of a list, as kube-apiserver returns it. */
interface Page {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly object[] | null;
}

const PAGE_SIZE = 500;

/**
 * The requests to Kubernetes of a client: `client.kubernetes`. Paths are those of kube-apiserver, for example
 * `/apis/apps/v1/namespaces/shop/deployments/cart`; `objectPath` makes them out of names. All methods throw StatusError
 * and ConnectionError.
 */
export class Kubernetes {
  readonly #transport: Transport;
  readonly #WebSocket: WebSocketConstructor | undefined;

  constructor(transport: Transport, WebSocket?: WebSocketConstructor) {
    this.#transport = transport;
    this.#WebSocket = WebSocket;
  }

  /** The JSON of a path. Integers above 2⁵³ are rounded: `text` has the exact ones. */
  get<T = KubernetesObject>(path: string, options: KubernetesOptions = {}): Promise<T> {
    return this.#transport.json(path, options);
  }

  /** The exact text of a path, for example YAML with `accept: 'application/yaml'`. */
  text(
    path: string,
    { accept = 'application/json', ...options }: KubernetesOptions & { readonly accept?: string } = {},
  ): Promise<string> {
    return this.#transport.text(path, { ...options, headers: { Accept: accept } });
  }

  /** The kinds that the cluster serves, custom resources included. */
  async kinds({ signal }: Pick<KubernetesOptions, 'signal'> = {}): Promise<readonly ServedKind[]> {
    const options = { headers: { Accept: ACCEPT_DISCOVERY }, signal };
    const lists = await Promise.all(
      ['/api', '/apis'].map((path) => this.#transport.json<GroupDiscoveryList>(path, options)),
    );
    return lists.flatMap(servedKinds);
  }

  /** Whether the caller is allowed to perform an action, for example `{ verb: 'delete', resource: 'pods', namespace: 'shop' }`. */
  async can(
    resourceAttributes: AccessAttributes,
    options: Pick<KubernetesOptions, 'signal'> = {},
  ): Promise<boolean> {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const { status } = await this.create<{ status?: { allowed?: boolean } }>(path, review, options);
    return status?.allowed === true;
  }

  /** All objects of a list, read in pages. */
  async list<T = KubernetesObject>(
    path: string,
    { query, signal }: KubernetesOptions = {},
  ): Promise<KubernetesList<T>> {
    const items: T[] = [];
    let from: string | undefined;
    let limit: number | undefined = PAGE_SIZE;
    for (;;) {
      try {
        const page: Page = await this.#transport.json(path, {
          query: { ...query, limit, continue: from },
          signal,
        });
        const type = { apiVersion: page.apiVersion, kind: page.kind.replace(/List$/, '') };
        for (const item of page.items ?? []) items.push({ ...type, ...item } as T);
        from = page.metadata.continue || undefined;
        if (from === undefined) return { resourceVersion: page.metadata.resourceVersion, items };
      } catch (error) {
        if (from === undefined || !(error instanceof StatusError && error.code === 410)) throw error;
        // The version of the first pages has expired: read all objects at once.
        items.length = 0;
        from = undefined;
        limit = undefined;
      }
    }
  }

  /** Creates an object in the list at `path`. */
  create<T = KubernetesObject>(path: string, object: object, options: KubernetesOptions = {}): Promise<T> {
    return this.#send('POST', path, options, object);
  }

  /** Replaces an object. 409 means that it has changed since `object` was read: read it again. */
  replace<T = KubernetesObject>(path: string, object: object, options: KubernetesOptions = {}): Promise<T> {
    return this.#send('PUT', path, options, object);
  }

  /** Changes an object, by default with a JSON merge patch. */
  patch<T = KubernetesObject>(
    path: string,
    patch: object,
    { type = 'merge', ...options }: KubernetesOptions & { readonly type?: PatchType } = {},
  ): Promise<T> {
    return this.#send('PATCH', path, options, patch, PATCH_TYPES[type]);
  }

  /** Deletes an object. Returns the object if it has finalizers, else a Status. */
  delete<T = unknown>(path: string, options: KubernetesOptions = {}): Promise<T> {
    return this.#send('DELETE', path, options);
  }

  /**
   * The lines of a text that can grow, such as a pod log with `query: { follow: true }`. Ends with the text, or with the
   * signal. Does not reconnect.
   */
  async *lines(path: string, options: KubernetesOptions = {}): AsyncGenerator<string, void, undefined> {
    const { signal } = options;
    try {
      // The kubelet responds to a followed log when the container writes its first line.
      const { exchange, response } = await this.#transport.open(path, { ...options, canBeLate: true });
      yield* linesIn(exchange.chunks(response));
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  /**
   * The objects of a list as events: first ADDED for each object, then the changes. Reconnects by itself without
   * missing a change: if the server no longer has the changes, it lists again and reports the difference. To watch one
   * object, select it with `query: { fieldSelector: 'metadata.name=cart' }`.
   */
  watch<T = KubernetesObject>(
    path: string,
    { query, ...options }: StreamOptions & { readonly query?: Query | undefined } = {},
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const list = (signal: AbortSignal) => this.list<T>(path, { query, signal });
    return watch<T>(this.#transport, { path, query, list }, options);
  }

  /** Runs a command in a container. */
  async exec(namespace: string, pod: string, options: ExecOptions): Promise<Shell> {
    const path = objectPath({
      apiVersion: 'v1',
      resource: 'pods',
      namespace,
      name: pod,
      subresource: 'exec',
    });
    return await exec(this.#transport, path, options, this.#WebSocket);
  }

  #send<T>(
    method: string,
    path: string,
    { query, signal }: KubernetesOptions,
    object?: object,
    contentType = 'application/json',
  ): Promise<T> {
    const options: RequestOptions = { method, query, signal };
    if (object === undefined) return this.#transport.json(path, options);
    const headers = { 'Content-Type': contentType };
    return this.#transport.json(path, { ...options, headers, body: JSON.stringify(object) });
  }
}

/** The path of an object, or without `name` of a list. Throws a TypeError for a name that is not one segment. */
export function objectPath(target: {
  /** For example `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** The plural, for example `deployments`. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}): string {
  const { apiVersion, resource, namespace, name, subresource } = target;
  const group = apiVersion.split('/');
  return [
    group.length === 1 ? '/api' : '/apis',
    ...group.map(segment),
    ...(namespace === undefined ? [] : ['namespaces', segment(namespace)]),
    segment(resource),
    ...(name === undefined ? [] : [segment(name)]),
    ...(subresource === undefined ? [] : [segment(subresource)]),
  ].join('/');
}
