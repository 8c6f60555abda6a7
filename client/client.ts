// Client: the server with the token of one caller.
import type { SearchParameters, SearchResult } from './generated/platform.ts';
import { Kubernetes } from './kubernetes.ts';
import { Lists } from './lists.ts';
import { Logs } from './logs.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface ClientOptions extends Omit<TransportOptions, 'server'> {
  /** Address of the server, with a path if a proxy adds one. Default: the origin of the page. */
  readonly server?: string | undefined;
  /** The option `platform.name` of the server, which is a part of its API groups. Default: `platform`. */
  readonly platform?: string | undefined;
  /** For shells. Default: the global one, which Node has since version 22. */
  readonly WebSocket?: typeof globalThis.WebSocket | undefined;
}

/** `kinds`: `plural` or `plural.group`. `limit`: maximum of matches of each kind. */
export interface SearchOptions extends Pick<SearchParameters, 'kinds' | 'limit'> {
  readonly signal?: AbortSignal | undefined;
}

/** A server with the token of one caller. Its methods throw StatusError, ConnectionError, and the errors of `token`. */
export class Client {
  readonly lists: Lists;
  readonly logs: Logs;
  readonly kubernetes: Kubernetes;
  readonly #transport: Transport;
  readonly #resources: string;

  constructor({ server = originOfPage(), platform = 'platform', WebSocket, ...options }: ClientOptions) {
    const transport = new Transport({ server, ...options });
    this.#transport = transport;
    this.#resources = `/kapis/resources.${platform}.io/v1alpha3`;
    this.lists = new Lists(transport, this.#resources);
    this.kubernetes = new Kubernetes(transport, WebSocket);
    this.logs = new Logs(transport, `/kapis/logging.${platform}.io/v1alpha2/logs`);
  }

  /** The best matches of a text in names, labels and images, grouped by kind; the kind with the best match is first. */
  search(q: string, { signal, ...query }: SearchOptions = {}): Promise<SearchResult> {
    return this.#transport.json(`${this.#resources}/search`, { query: { q, ...query }, signal });
  }
}

function originOfPage(): string {
  if (!('location' in globalThis)) throw new TypeError('outside of a page, the option `server` is required');
  return globalThis.location.origin;
}
