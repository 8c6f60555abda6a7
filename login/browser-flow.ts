// Authorization code flow with PKCE and a loopback redirect (RFC 8252, 7.3; RFC 7636; RFC 9207).
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthorizationServer } from './authorization-server.ts';
import { LoginError } from './login-error.ts';
import { SCOPE, type SignIn, signInOf } from './tokens.ts';

export interface BrowserFlowOptions {
  readonly server: Pick<AuthorizationServer, 'issuer' | 'endpoint' | 'post'>;
  readonly clientID: string;
  /** Prints a line for the user. */
  readonly print: (line: string) => void;
  /** Opens a URL in the browser; rejects if that fails. */
  readonly open: (url: string) => Promise<void>;
}

/** Rejected by `open`: the user must sign in without a browser of this machine. */
export class NoBrowserError extends LoginError {}

/** As long as the sign-in form of the server is valid. */
const TIMEOUT_MS = 30 * 60_000;

/** Throws NoBrowserError if no browser can be opened. */
export async function signInWithBrowser({
  server,
  clientID,
  print,
  open,
}: BrowserFlowOptions): Promise<SignIn> {
  const endpoint = server.endpoint('authorization_endpoint');
  const [state, nonce, verifier] = [randomText(), randomText(), randomText()];
  const redirect = await RedirectListener.start(state, server.issuer);
  try {
    const parameters = {
      response_type: 'code',
      client_id: clientID,
      redirect_uri: redirect.uri,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) endpoint.searchParams.set(name, value);
    print(`Sign in on the page that opens in your browser. If no page opens, visit:\n\n  ${endpoint.href}\n`);
    const failure = open(endpoint.href).then(() => Promise.withResolvers<never>().promise);
    const code = await Promise.race([redirect.code, failure]);
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirect.uri,
      code_verifier: verifier,
    };
    const response = await server.post('token_endpoint', { ...form, client_id: clientID });
    return signInOf(response, { issuer: server.issuer, clientID, nonce, now: Date.now() });
  } finally {
    redirect.close();
  }
}

/** HTTP server on a loopback port, to which the browser is redirected with the code. */
class RedirectListener {
  readonly uri: string;
  readonly code: Promise<string>;
  readonly close: () => void;

  private constructor(uri: string, code: Promise<string>, close: () => void) {
    this.uri = uri;
    this.code = code;
    this.close = close;
  }

  static async start(state: string, issuer: string): Promise<RedirectListener> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    promise.catch(() => undefined);
    const server = createServer((request, response) => {
      const parameters = redirectParameters(request);
      if (parameters === undefined) return sendPage(response, 404, 'This page does not exist.');
      // Any page in the browser can send requests to this port. They must not disturb the sign-in.
      if (!isEqual(parameters.get('state') ?? '', state) || parameters.get('iss') !== issuer) {
        return sendPage(response, 400, 'This is not the response to the sign-in that the program waits for.');
      }
      const code = parameters.get('code');
      if (code === null) {
        const reason = parameters.get('error_description') ?? parameters.get('error') ?? 'no reason is given';
        const error = new LoginError(`the sign-in was refused: ${printable(reason)}`);
        response.once('close', () => reject(error));
        return sendPage(response, 200, 'You are not signed in. You can close this window.');
      }
      response.once('close', () => resolve(code));
      sendPage(response, 200, 'The sign-in continues in the terminal. You can close this window.');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const timer = setTimeout(
      () => reject(new LoginError('the sign-in was not completed within 30 minutes: try again')),
      TIMEOUT_MS,
    );
    const close = (): void => {
      clearTimeout(timer);
      server.close();
      // Browsers also open connections without a request, which would keep the process alive.
      server.closeAllConnections();
    };
    return new RedirectListener(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, promise, close);
  }
}

/** Undefined for a request that is no redirect of the authorization endpoint. */
function redirectParameters({ method, url = '' }: IncomingMessage): URLSearchParams | undefined {
  const target = URL.parse(url, 'http://127.0.0.1');
  return method === 'GET' && target?.pathname === '/' ? target.searchParams : undefined;
}

function sendPage(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    Connection: 'close',
  });
  response.end(
    `<!doctype html><html lang="en"><title>Sign-in for kubectl</title><p>${sentence}</p></html>\n`,
  );
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

/** Removes control characters, because the text goes to a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Control}/gu, ' ').slice(0, 200);
}
