// TLS proxy that requires credentials, for a log store without TLS and authentication. The proxy does not change
// requests and responses.
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface TLSProxyOptions {
  /** PEM of its certificate for 127.0.0.1 and of the key. */
  readonly cert: string;
  readonly key: string;
  /** Accepted values of the Authorization header, such as `ApiKey …`; any by default. */
  readonly authorization?: readonly string[];
}

export interface TLSProxy extends AsyncDisposable {
  /** Such as `https://127.0.0.1:31234`. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startTLSProxy(storeUrl: string, options: TLSProxyOptions): Promise<TLSProxy> {
  const { cert, key, authorization } = options;
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    if (authorization?.includes(incoming.headers.authorization ?? '') === false) {
      outgoing.writeHead(401, { 'www-authenticate': 'Basic realm="log store"' }).end('Unauthorized');
    } else {
      forward(storeUrl, incoming, outgoing);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop };
}

/** Ends each side when the other one ends. */
function forward(storeUrl: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url, headers } = incoming;
  const { authorization: _, ...forwarded } = headers;
  const upstream: ClientRequest = httpRequest(new URL(url ?? '/', storeUrl), {
    headers: { ...forwarded, host: new URL(storeUrl).host },
    ...(method === undefined ? {} : { method }),
  });
  upstream.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    outgoing.flushHeaders();
    pipeline(answer, outgoing, () => undefined);
  });
  upstream.on('error', () => outgoing.destroy());
  outgoing.on('close', () => upstream.destroy());
  pipeline(incoming, upstream, () => undefined);
}
