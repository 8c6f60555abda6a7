// One OAuth endpoint of a replica with a user who is signed in.
import { type Login, type Replica, SignedInCluster } from './signed-in.ts';

export interface EndpointResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text. */
  readonly body: unknown;
}

/** Form fields, or a raw body. */
export type PostedForm = Readonly<Record<string, string>> | string;

type RequestHeaders = Readonly<Record<string, string>>;

/** An endpoint, and a user who is signed in; new for each test. */
class SignedInEndpoint {
  cluster!: SignedInCluster;
  replica!: Replica;
  login!: Login;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  post(form: PostedForm, headers: RequestHeaders = {}): Promise<EndpointResponse> {
    return this.ask('POST', '', headers, form);
  }

  get(query: string, headers: RequestHeaders = {}): Promise<EndpointResponse> {
    return this.ask('GET', query, headers);
  }

  async ask(
    method: string,
    query: string,
    headers: RequestHeaders = {},
    form?: PostedForm,
  ): Promise<EndpointResponse> {
    const request = {
      method,
      headers: { accept: '*/*', ...headers },
      ...(form === undefined ? {} : { form }),
    };
    const { status, headers: given, text } = await this.replica.site.ask(`${this.#path}${query}`, request);
    const pairs = Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]);
    const isJSON = given['content-type'] === 'application/json' && text !== '';
    return { status, headers: new Headers(pairs), body: isJSON ? (JSON.parse(text) as unknown) : text };
  }
}

/** Starts a replica with the endpoint before each test of the suite, and stops it afterwards. */
export function serveEachTest(path: string): SignedInEndpoint {
  const at = new SignedInEndpoint(path);
  beforeEach(async () => {
    at.cluster = await SignedInCluster.start();
    at.replica = await at.cluster.replica();
    at.login = await at.replica.signIn();
  });
  afterEach(() => at.cluster.close());
  return at;
}

/** RFC 6749, 2.3.1. */
export function basic(id: string, secret: string): Readonly<Record<string, string>> {
  const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
