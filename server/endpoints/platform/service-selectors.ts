// Selectors of Services, for lists of the pods of a Service. A caller needs the permission to get the Service, because
// the list reveals its selector.
import { isNotFound, newBadRequest, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import type { RequestContext } from '../../request/request-context.ts';
import type { Kind } from '../../resources/kind.ts';
import type { ListAccess } from './list-access.ts';

/** Names that can be in a path as they are. No other Service or namespace exists. */
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SERVICES: Kind = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };

export class ServiceSelectors {
  readonly #client: ClusterClient;
  readonly #access: Pick<ListAccess, 'checkGet'>;

  constructor(client: ClusterClient, access: Pick<ListAccess, 'checkGet'>) {
    this.#client = client;
    this.#access = access;
  }

  /**
   * Returns the labels that a Service selects; undefined if the Service does not exist or has no selector. Throws Forbidden if
   * the caller may not get the Service.
   */
  async labels(
    context: RequestContext,
    namespace: string,
    name: string,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    if (namespace === '') throw newBadRequest('serviceName: use it with the path of one namespace');
    await this.#access.checkGet(context, SERVICES, namespace, name);
    if (!NAME.test(namespace) || !NAME.test(name)) return undefined;
    let service: unknown;
    try {
      const path = `/api/v1/namespaces/${namespace}/services/${name}`;
      service = await this.#client.json({ path, signal: context.signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      context.signal.throwIfAborted();
      throw newServiceUnavailable(`the service ${JSON.stringify(name)} cannot be read`, 1, { cause: error });
    }
    const selector = Object.entries(recordIn(recordIn(service, 'spec'), 'selector'));
    return selector.length === 0
      ? undefined
      : Object.fromEntries(selector.map(([key, value]) => [key, text(value)]));
  }
}
