// Lists: objects of any kind, filtered, sorted and counted by the server; as one page, or as a live page.
import { followEvents, type StreamEvent } from './event-stream.ts';
import type { ListParameters, ResourceList } from './generated/platform.ts';
import type { KubernetesObject } from './kubernetes-object.ts';
import type { StreamOptions } from './reconnecting.ts';
import { StatusError, type StatusObject } from './status-error.ts';
import { segment, type Transport } from './transport.ts';

/** The parameters of a list. An element of an array must not contain a comma. */
export type ListQuery = Omit<ListParameters, 'live'>;
/** A page of a list. `partial`: the caller may list the kind only in the namespaces of these objects. */
export interface ListPage<T = KubernetesObject> extends Omit<ResourceList, 'items'> {
  readonly items: readonly T[];
}

/** A term of the parameter `fieldSelector`. */
export function fieldTerm(field: string, value: string): string {
  return `${field}=${value.replaceAll(/[\\,=]/g, '\\$&')}`;
}

/** The lists of a client: `client.lists`. */
export class Lists {
  readonly #transport: Transport;
  readonly #base: string;

  constructor(transport: Transport, base: string) {
    this.#transport = transport;
    this.#base = base;
  }

  /**
   * One page. `resource` is `plural` or `plural.group`, for example `deployments.apps`. Without `limit`, the page has
   * all objects.
   */
  async page<T = KubernetesObject>(
    resource: string,
    query: ListQuery = {},
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ListPage<T>> {
    return await this.#transport.json(`${this.#base}/${segment(resource)}`, { query, ...options });
  }

  /**
   * A page, and the new page after each change, at most one per second. Reconnects by itself. Throws a StatusError
   * that a retry cannot help, for example 403 after the caller has lost the permission.
   */
  live<T = KubernetesObject>(
    resource: string,
    query: ListQuery = {},
    options: StreamOptions = {},
  ): AsyncGenerator<ListPage<T>, void, undefined> {
    const read = ({ event, data }: StreamEvent): ListPage<T> | undefined => {
      if (event === 'failure') throw new StatusError(JSON.parse(data) as StatusObject);
      return event === 'page' ? (JSON.parse(data) as ListPage<T>) : undefined;
    };
    const path = `${this.#base}/${segment(resource)}`;
    return followEvents(this.#transport, { path, query }, read, options);
  }
}
