// HTTP connections to the nodes of a log store, with TLS. Changed credential and CA files apply within a second.
import { describeFileError } from '../../files/file-error.ts';
import { hasCertificate } from '../../files/pem-certificates.ts';
import { readTextFile } from '../../files/text-file.ts';
import { basicAuthorization } from '../../upstream/address.ts';
import { ConnectionPool } from '../../upstream/connection-pool.ts';
import { abortableBy, send } from '../../upstream/send.ts';
import type { UpstreamResponse } from '../../upstream/upstream-response.ts';
import { UnfitOptionError } from '../store/configuration-errors.ts';

export interface CredentialOptions {
  readonly username?: string;
  /** The password of `username`. */
  readonly passwordFile?: string;
  /** `id:key` in base64, instead of user and password. */
  readonly apiKeyFile?: string;
  /** A bearer token, instead of user and password. */
  readonly bearerTokenFile?: string;
  /** CA of the store's certificate, PEM. Default: the CAs of Node.js. */
  readonly caFile?: string;
}

type FileOption = Exclude<keyof CredentialOptions, 'username'>;

interface Credentials {
  readonly authorization: string | undefined;
  readonly ca: string | undefined;
}

/** Milliseconds after which a request reads the files again. */
const RELOAD_MS = 1_000;

/** Reads the files. `store`: the name of the store in the configuration. Rejects with UnfitOptionError. */
export async function readCredentials(store: string, options: CredentialOptions): Promise<Credentials> {
  /** Returns the text of a file; undefined when the option is not set. */
  const textOf = async (option: FileOption): Promise<string | undefined> => {
    const path = options[option] ?? '';
    if (path === '') return undefined;
    const unusable = (reason: string) =>
      new UnfitOptionError(`logging.${store}.${option}`, reason, undefined, path);
    const text = await readTextFile(path).catch((error: unknown) => {
      throw unusable(describeFileError(error));
    });
    if (text.trim() === '') throw unusable('it is empty');
    if (option === 'caFile' && !hasCertificate(text)) throw unusable('it contains no certificate');
    return text;
  };
  const ca = await textOf('caFile');
  const apiKey = await textOf('apiKeyFile');
  if (apiKey !== undefined) return { ca, authorization: `ApiKey ${apiKey.trim()}` };
  const token = await textOf('bearerTokenFile');
  if (token !== undefined) return { ca, authorization: `Bearer ${token.trim()}` };
  const { username = '' } = options;
  if (username === '') return { ca, authorization: undefined };
  // Editors append a newline; spaces may be part of the password.
  const password = ((await textOf('passwordFile')) ?? '').replace(/\r?\n$/, '');
  return { ca, authorization: basicAuthorization(`${username}:${password}`) };
}

/** Time for which a node that failed is not used if there is another one, in ms. */
const AVOIDED_MS = 60_000;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Below the path of the URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export class StoreConnection {
  readonly #readCredentials: () => Promise<Credentials>;
  readonly #nodes: readonly Node[];
  readonly #now: () => number;
  #credentials: Promise<Credentials> | undefined;
  #credentialsReadAt = Number.NEGATIVE_INFINITY;
  /** The CA of the connections. */
  #ca: string | undefined;
  #turn = 0;

  /** `store`: the name of the store in the configuration. `now`: a monotonic clock in ms. */
  constructor(store: string, urls: readonly string[], options: CredentialOptions, now: () => number) {
    this.#readCredentials = () => readCredentials(store, options);
    this.#nodes = urls.map((url) => new Node(url));
    this.#now = now;
  }

  /**
   * Returns the response, with any status; the caller reads or destroys it. A request without a response is sent to the next node.
   * Aborting `signal` closes the connection, which cancels the query in the store.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<UpstreamResponse> {
    const credentials = await this.#currentCredentials();
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      const node = this.#nextNode();
      try {
        return await this.#attempt(node, request, credentials, signal);
      } catch (error) {
        if (!isCancelled(signal)) node.avoidedUntil = this.#now() + AVOIDED_MS;
        if (signal.aborted || attempt >= this.#nodes.length) throw error;
      }
    }
  }

  close(): void {
    for (const { pool } of this.#nodes) pool.retire();
  }

  /** Reads the files again after RELOAD_MS, or after an error. */
  #currentCredentials(): Promise<Credentials> {
    const now = this.#now();
    if (this.#credentials && now - this.#credentialsReadAt < RELOAD_MS) return this.#credentials;
    this.#credentialsReadAt = now;
    const reading = this.#readCredentials();
    this.#credentials = reading;
    reading.catch(() => {
      if (this.#credentials === reading) this.#credentials = undefined;
    });
    return reading;
  }

  /** Uses the nodes in turn, except those that failed lately. */
  #nextNode(): Node {
    const now = this.#now();
    const available = this.#nodes.filter(({ avoidedUntil }) => avoidedUntil <= now);
    const nodes = available.length > 0 ? available : this.#nodes;
    const node = nodes[this.#turn++ % nodes.length];
    if (!node) throw new Error('the store has no URL');
    return node;
  }

  #attempt(
    node: Node,
    { method, path, headers, body }: HttpRequest,
    { authorization, ca }: Credentials,
    signal: AbortSignal,
  ): Promise<UpstreamResponse> {
    if (this.#ca !== ca) {
      // Connections that were verified with the old CA are not reused.
      for (const each of this.#nodes) each.trust(ca);
      this.#ca = ca;
    }
    return send(node.pool, {
      method,
      path: `${node.prefix}${path}`,
      headers: Object.entries({
        // Compression costs the store more CPU time than it saves, and delays the records of live tails.
        'accept-encoding': 'identity',
        ...headers,
        ...(authorization === undefined ? {} : { authorization }),
      }).flat(),
      body,
      // All requests are queries.
      isRead: true,
      crowd: '',
      work: abortableBy(signal),
    });
  }
}

class Node {
  pool: ConnectionPool;
  readonly prefix: string;
  avoidedUntil = Number.NEGATIVE_INFINITY;
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
    this.prefix = this.#url.pathname.replace(/\/$/, '');
    this.pool = new ConnectionPool({ url: this.#url });
  }

  trust(ca: string | undefined): void {
    this.pool.retire();
    this.pool = new ConnectionPool({ url: this.#url, tls: { ca } });
  }
}

/** Whether the caller cancelled the request, before its timeout. */
function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError');
}
