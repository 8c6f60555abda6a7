// TLS proxies between a browser and the server. They play browsers that the tests cannot start: one without Fetch Metadata,
// and one with a client certificate.
import { createServer } from 'node:http';
import { createServer as createSecureServer, request as secureRequest } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { pipeline } from 'node:stream';
import { connect, createServer as createTLSServer, type Server } from 'node:tls';
import type { KeyPair } from '../../../hack/control-plane/certificate-authority.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import type { Platform } from '../platform.ts';

export interface BrowserProxy extends Disposable {
  readonly origin: string;
}

/** Removes the Fetch Metadata of each request, as a browser from before 2023 has none. */
export async function withoutFetchMetadata(platform: Platform, serverURL: string): Promise<BrowserProxy> {
  const { port } = new URL(serverURL);
  const target = { host: '127.0.0.1', port, ca: platform.controlPlane.ca, servername: 'localhost' };
  const server = createSecureServer(await certificate(platform), (request, response) => {
    const { rawHeaders, method, url: path } = request;
    const headers = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 && !/^sec-fetch-/i.test(name) ? [name, rawHeaders[i + 1] ?? ''] : [],
    );
    const outgoing = secureRequest({ ...target, method, path, headers, agent: false }, (received) => {
      response.writeHead(received.statusCode ?? 502, received.rawHeaders);
      pipeline(received, response, () => undefined);
    });
    outgoing.on('error', () => response.destroy());
    pipeline(request, outgoing, () => undefined);
  });
  return listening(server, () => server.closeAllConnections());
}

/** Adds the client certificate to each connection, as a browser does for any page. */
export async function withCertificate(
  platform: Platform,
  serverURL: string,
  pair: KeyPair,
): Promise<BrowserProxy> {
  const { port } = new URL(serverURL);
  const { ca } = platform.controlPlane;
  const server = createTLSServer(await certificate(platform), (client) => {
    const upstream = connect({ host: '127.0.0.1', port: Number(port), ca, servername: 'localhost', ...pair });
    pipeline(client, upstream, client, () => undefined);
  });
  return listening(server, () => undefined);
}

/** Starts an HTTP proxy that connects every host name to a local port, because the names of the tests are in no DNS. */
export async function tunnelTo(port: string): Promise<Disposable & { readonly url: string }> {
  const server = createServer();
  server.on('connect', (_request, client) => {
    const upstream = connectPlain(Number(port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      pipeline(client, upstream, client, () => undefined);
    });
    upstream.on('error', () => client.destroy());
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  return { url, [Symbol.dispose]: () => void server.close() };
}

async function certificate({ controlPlane }: Platform): Promise<KeyPair> {
  const names = { dns: ['localhost'], ip: ['127.0.0.1'] };
  const { cert, key } = await controlPlane.pki.cluster.issueServer({ cn: 'browser-proxy' }, names);
  return { cert, key };
}

async function listening(server: Server, close: () => void): Promise<BrowserProxy> {
  const port = await listenOnLoopback(server);
  const stop = (): void => {
    server.close();
    close();
  };
  return { origin: `https://127.0.0.1:${port}`, [Symbol.dispose]: stop };
}
