// Kubernetes: requests that the gateway of the server forwards to kube-apiserver as the caller.
import type { Query, Transport } from './transport.ts';

export interface KubernetesOptions {
  readonly query?: Query | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The requests to Kubernetes of a client: `client.kubernetes`. */
export class Kubernetes {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The object or the list at a path, for example `/apis/apps/v1/namespaces/shop/deployments/cart`. */
  get<T>(path: string, options: KubernetesOptions = {}): Promise<T> {
    return this.#transport.json(path, options);
  }

  /** The exact text of the response, for example YAML with `accept: 'application/yaml'`. */
  text(
    path: string,
    { accept = 'application/json', ...options }: KubernetesOptions & { readonly accept?: string } = {},
  ): Promise<string> {
    return this.#transport.text(path, { ...options, headers: { Accept: accept } });
  }
}
