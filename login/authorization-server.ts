// AuthorizationServer: client of the OAuth endpoints of one server. Its errors say what the user can do.
import { codeOf, messageOf } from '../apis/reading/thrown-value.ts';
import { record, text, texts } from '../apis/reading/unknown-value.ts';
import type { Target } from './arguments.ts';
import { LoginError } from './login-error.ts';
import { trustCertificates } from './trusted-certificates.ts';

/** An error response of an OAuth endpoint (RFC 6749, 5.2). */
export class EndpointError extends LoginError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Members of the metadata (RFC 8414, 2), with the purpose for error messages. */
const ENDPOINTS = {
  authorization_endpoint: 'sign-in with a browser',
  device_authorization_endpoint: 'sign-in on another device',
  token_endpoint: 'tokens',
  revocation_endpoint: 'revocation of tokens',
} as const;
export type Endpoint = keyof typeof ENDPOINTS;

const TIMEOUT_MS = 10_000;
/** OpenSSL codes of a certificate whose CA is not trusted. */
const UNKNOWN_CA: ReadonlySet<string | undefined> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

export class AuthorizationServer {
  readonly issuer: string;
  readonly #metadata: Readonly<Record<string, string>>;

  private constructor(issuer: string, metadata: Readonly<Record<string, string>>) {
    this.issuer = issuer;
    this.#metadata = metadata;
  }

  /** Trusts the CA of the target, and reads the metadata of its server. */
  static async discover({ server: origin, ca }: Pick<Target, 'server' | 'ca'>): Promise<AuthorizationServer> {
    trustCertificates(ca);
    const issuer = `${origin}/oauth`;
    // RFC 8414, 3.1: the path of the issuer follows the well-known path.
    const response = await send(new URL('/.well-known/oauth-authorization-server/oauth', origin), {});
    const metadata = texts(await response.json().catch(() => undefined));
    const { issuer: named } = metadata;
    if (!response.ok || named === undefined) {
      throw new LoginError(
        `${origin} is not a ks-apiserver with sign-in (status ${response.status}): check the address`,
      );
    }
    if (named !== issuer) {
      throw new LoginError(
        `the server at ${origin} names another address: sign in to ${named.replace(/\/oauth$/, '')}`,
      );
    }
    return new AuthorizationServer(issuer, metadata);
  }

  endpoint(name: Endpoint): URL {
    const url = URL.parse(this.#metadata[name] ?? '');
    if (url?.protocol === 'https:') return url;
    throw new LoginError(`the server ${this.issuer} does not support ${ENDPOINTS[name]}`);
  }

  /** Sends a form; returns the members of the response. Throws EndpointError for an OAuth error. */
  async post(
    name: Endpoint,
    form: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const response = await send(this.endpoint(name), { method: 'POST', body: new URLSearchParams(form) });
    const body = record(await response.json().catch(() => undefined));
    if (response.ok) return body;
    const { status } = response;
    const [code, description] = [text(body['error']), text(body['error_description'])];
    throw new EndpointError(status, code, `${this.issuer}: ${description || code || `status ${status}`}`);
  }
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, {
      ...init,
      // The page of the device flow shows the user agent.
      headers: { accept: 'application/json', 'user-agent': 'ks-login' },
      // A redirected request would send tokens to another address.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    throw new LoginError(explanationOf(url.origin, error));
  }
}

function explanationOf(origin: string, error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return `${origin} did not respond within ${TIMEOUT_MS / 1000} seconds: check the address and the network`;
  }
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = codeOf(cause);
  if (UNKNOWN_CA.has(code)) {
    return `the certificate of ${origin} is signed by an unknown CA: pass the file of the CA with --ca FILE`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the certificate of ${origin} is for another host: use an address that the certificate contains`;
  }
  return `cannot connect to ${origin}: ${messageOf(cause) || code}: check the address and the network`;
}
