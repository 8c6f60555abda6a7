// Test server with one OAuth endpoint.
import { oauthErrors } from '../../../server/oauth/oauth-error-writer.ts';
import type { Handler } from '../../../server/request/request-context.ts';
import { HandlerServer } from '../handler-server.ts';
import { type Login, type Replica, SignedInCluster } from './signed-in.ts';

export interface EndpointResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text. */
  readonly body: unknown;
}

/** Form fields, or a raw body. */
export type PostedForm = Readonly<Record<string, string>> | string;

/** One OAuth endpoint behind a real socket, with the error writer of the authorization server. */
export class OAuthEndpoint {
  readonly #server: HandlerServer;

  constructor(handler: Handler) {
    this.#server = new HandlerServer(async (context) => {
      try {
        await handler(context);
      } catch (error) {
        oauthErrors.write(context, error);
      }
    });
  }

  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  post(form: PostedForm, headers: Readonly<Record<string, string>> = {}): Promise<EndpointResponse> {
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    return this.ask('POST', '', { 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, body);
  }

  get(query: string, headers: Readonly<Record<string, string>> = {}): Promise<EndpointResponse> {
    return this.ask('GET', query, headers);
  }

  async ask(
    method: string,
    query: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string,
  ): Promise<EndpointResponse> {
    const response = await fetch(`http://127.0.0.1:${this.#server.port}/oauth/endpoint${query}`, {
      method,
      redirect: 'manual',
      headers: { connection: 'close', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const isJSON = response.headers.get('content-type') === 'application/json' && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      body: isJSON ? (JSON.parse(text) as unknown) : text,
    };
  }
}

/** An OAuth endpoint and a user who is signed in; new for each test. */
class SignedInEndpoint {
  cluster!: SignedInCluster;
  replica!: Replica;
  login!: Login;
  endpoint!: OAuthEndpoint;
}

/** Starts the endpoint of a replica before each test of the suite, and stops it afterwards. */
export function serveEachTest(handlerOf: (replica: Replica) => Handler): SignedInEndpoint {
  const at = new SignedInEndpoint();
  beforeEach(async () => {
    at.cluster = await SignedInCluster.start();
    at.replica = at.cluster.replica();
    at.login = await at.replica.signIn();
    at.endpoint = await new OAuthEndpoint(handlerOf(at.replica)).start();
  });
  afterEach(() => at.endpoint.close());
  return at;
}

/** RFC 6749, 2.3.1. */
export function basic(id: string, secret: string): Readonly<Record<string, string>> {
  const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
