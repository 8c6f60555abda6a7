// Selectors of Services, for lists of the pods of a Service. A caller needs the permission to get the Service, because
// the list reveals its selector.
import { LRUCache } from 'lru-cache';
import { isNotFound, newInvalidParameter, newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import { recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Kind } from '../resources/kind.ts';
import type { ListAccess } from './list-access.ts';

/** Names that can be in a path as they are. No other Service or namespace exists. */
const NAME = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SERVICES: Kind = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };

/** Time in ms for which a Service is not read again: each change of the pods updates all live lists of a Service. */
const TTL_MS = 5_000;
const CACHED = 1024;

type Labels = Readonly<Record<string, string>>;

export class ServiceSelectors {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #access: Pick<ListAccess, 'checkGet'>;

  /** By the path of the Service. */
  readonly #known: LRUCache<string, { readonly labels: Labels | undefined }>;

  /** `now`: monotonic clock in ms. */
  constructor(
    client: Pick<ClusterClient, 'json'>,
    access: Pick<ListAccess, 'checkGet'>,
    now = () => performance.now(),
  ) {
    this.#client = client;
    this.#access = access;
    this.#known = new LRUCache({ max: CACHED, ttl: TTL_MS, ttlResolution: 0, perf: { now } });
  }

  /**
   * Returns the labels that a Service selects; undefined if the Service does not exist or has no selector. Throws Forbidden if
   * the caller is not allowed to get the Service.
   */
  async labels(context: RequestContext, namespace: string, name: string): Promise<Labels | undefined> {
    if (namespace === '') throw newInvalidParameter('serviceName', 'use it with the path of one namespace');
    await this.#access.checkGet(context, SERVICES, namespace, name);
    if (!NAME.test(namespace) || !NAME.test(name)) return undefined;
    const path = `/api/v1/namespaces/${namespace}/services/${name}`;
    const known = this.#known.get(path);
    if (known) return known.labels;
    const labels = await this.#read(path, context.signal);
    this.#known.set(path, { labels });
    return labels;
  }

  async #read(path: string, signal: AbortSignal): Promise<Labels | undefined> {
    let service: unknown;
    try {
      service = await this.#client.json({ path, signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      signal.throwIfAborted();
      const name = path.slice(path.lastIndexOf('/') + 1);
      throw newServiceUnavailable(`the service ${JSON.stringify(name)} cannot be read`, 1, { cause: error });
    }
    const selector = Object.entries(recordIn(recordIn(service, 'spec'), 'selector'));
    return selector.length === 0
      ? undefined
      : Object.fromEntries(selector.map(([key, value]) => [key, text(value)]));
  }
}
