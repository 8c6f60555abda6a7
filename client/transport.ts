// Transport: sends one request with the token of the caller. Everything else of the library uses it.
import { Exchange } from './exchange.ts';
import { errorOf, StatusError } from './status-error.ts';

/** Where the access tokens come from. SignIn is one. */
export interface TokenSource {
  /**
   * A valid access token. `rejected` is a token that the server has just rejected with 401: return another one, or
   * throw. Streams end with the error, unless it is a ConnectionError, or a StatusError that a retry can help.
   */
  token(options?: { rejected?: string }): Promise<string>;
}

/** Parameters of a query: texts, numbers, booleans, and arrays, which are joined by commas. Undefined ones are omitted. */
export type Query = object;

export interface RequestOptions {
  readonly method?: string;
  readonly query?: Query | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Whether the response can begin late, without the timeout. */
  readonly canBeLate?: boolean;
}

export interface TransportOptions {
  /** Address of the server, with a path if a proxy adds one. */
  readonly server: string;
  /** An access token, or the source of access tokens, such as SignIn. */
  readonly token: string | TokenSource;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds in which the server must send something. Default: 90,000, longer than the deadline of the server. */
  readonly timeout?: number | undefined;
  /** Called with each warning of Kubernetes, for example about a deprecated version. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A response without an error, whose body has not been read: `exchange.text(response)`, `exchange.chunks(response)`. */
export interface Opened {
  readonly exchange: Exchange;
  readonly response: Response;
}

const DEFAULT_TIMEOUT = 90_000;

export class Transport {
  readonly #server: URL;
  readonly #token: string | TokenSource;
  readonly #fetch: typeof globalThis.fetch;
  readonly #timeout: number;
  readonly #onWarning: ((message: string) => void) | undefined;

  constructor({ server, token, fetch, timeout, onWarning }: TransportOptions) {
    this.#server = serverURL(server);
    this.#token = token;
    // Browsers reject `fetch` with another `this` than the window.
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#timeout = timeout ?? DEFAULT_TIMEOUT;
    this.#onWarning = onWarning;
  }

  /** The address of a path, which starts with `/` and can have a query. Never leaves the path of the server. */
  url(path: string, query: Query = {}): URL {
    const [pathname = '', ...search] = path.split('?');
    if (!pathname.startsWith('/') || UNSAFE_PATH.test(pathname)) throw new TypeError(`invalid path: ${path}`);
    const url = new URL(this.#server.origin + this.#server.pathname.replace(/\/+$/, '') + pathname);
    url.search = search.join('?');
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.append(name, queryText(name, value));
    }
    return url;
  }

  /** The body of a response with JSON. */
  async json<T>(path: string, options: RequestOptions = {}): Promise<T> {
    const accept = { Accept: 'application/json', ...options.headers };
    const text = await this.text(path, { ...options, headers: accept });
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new Error(`${options.method ?? 'GET'} ${path}: the response is not JSON`, { cause: error });
    }
  }

  /** The body of a response as text. */
  async text(path: string, options: RequestOptions = {}): Promise<string> {
    const { exchange, response } = await this.open(path, options);
    return await exchange.text(response, this.#timeout);
  }

  /** Sends a request. Throws a StatusError or a ConnectionError. The caller must read the body, or close the exchange. */
  async open(path: string, options: RequestOptions = {}): Promise<Opened> {
    const url = this.url(path, options.query);
    const exchange = new Exchange(`${options.method ?? 'GET'} ${url.pathname}`, options.signal);
    try {
      const response = await this.#send(url, options, exchange);
      if (!response.ok) throw await this.#error(response, exchange);
      this.#warn(response.headers);
      return { exchange, response };
    } catch (error) {
      exchange.close();
      throw error;
    }
  }

  /** Sends the request, a second time with another token if the server rejects the first one. */
  async #send(
    url: URL,
    { method, headers, body, canBeLate = false }: RequestOptions,
    exchange: Exchange,
  ): Promise<Response> {
    const send = (token: string): Promise<Response> => {
      const init: RequestInit = {
        method: method ?? 'GET',
        headers: { ...headers, Authorization: `Bearer ${token}` },
        // Only the token identifies the caller. A redirect could send it to another server.
        credentials: 'omit',
        redirect: 'manual',
        signal: exchange.signal,
        ...(body === undefined ? {} : { body }),
      };
      return exchange.step(() => this.#fetch(url, init), canBeLate ? undefined : this.#timeout);
    };
    const token = await this.token();
    const response = await send(token);
    if (response.status !== 401 || typeof this.#token === 'string') return response;
    const next = await this.#token.token({ rejected: token });
    if (next === token) return response;
    await response.body?.cancel();
    return await send(next);
  }

  async #error(response: Response, exchange: Exchange): Promise<StatusError> {
    // A browser hides the status of a redirect.
    if (response.type !== 'opaqueredirect' && response.status >= 400) {
      return await exchange.step(() => errorOf(response, exchange.what), this.#timeout);
    }
    const message = `${exchange.what}: the server redirects, which the client does not follow`;
    return new StatusError({ message, code: response.status || 302 });
  }

  /** The access token of the next request. */
  async token(): Promise<string> {
    return typeof this.#token === 'string' ? this.#token : await this.#token.token();
  }

  #warn(headers: Headers): void {
    if (this.#onWarning === undefined) return;
    // Kubernetes sends `299 - "text"`, more than one separated by commas.
    for (const [, text = ''] of (headers.get('Warning') ?? '').matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)) {
      this.#onWarning(text.replaceAll(/\\(.)/g, '$1'));
    }
  }
}

/** Dot segments, and characters that `URL` changes or removes, or that end the path. */
const UNSAFE_PATH = /[\\#\s\p{Cc}]|\/(?:\.|%2e){1,2}(?:\/|$)/iu;

function serverURL(server: string): URL {
  const url = new URL(server);
  const isPlain = `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!/^https?:$/.test(url.protocol) || !isPlain) {
    throw new TypeError('server must be an http or https URL without credentials, query and fragment');
  }
  return url;
}

/** A value of the caller as one segment of a path. */
export function segment(value: string): string {
  if (value === '' || value === '.' || value === '..' || /[/\\\p{Cc}]/u.test(value)) {
    throw new TypeError(`not a name in a path: ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}

function queryText(name: string, value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  if (value.some((item) => String(item).includes(','))) {
    throw new TypeError(`an element of ${name} has a comma, which separates elements: ${value.join(' ')}`);
  }
  return value.join(',');
}
