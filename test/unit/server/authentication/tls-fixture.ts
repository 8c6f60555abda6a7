// Starts a real TLS server that requests client certificates, for unit tests.
import type { IncomingMessage } from 'node:http';
import { type Agent, createServer } from 'node:https';
import { type Issued, issueServer, newCA } from '../../../support/certificates.ts';
import { exchange } from '../../../support/exchange.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';

/** A real TLS server that requests client certificates and calls `inspect` for each request. */
export interface TlsFixture {
  readonly port: number;
  readonly serverCA: string;
  /** Sends a request, and returns the result of `inspect`. */
  send(options?: SendOptions): Promise<unknown>;
  stop(): Promise<void>;
}

export interface SendOptions {
  readonly client?: Issued;
  /** Intermediate certificates, sent after the client's certificate. */
  readonly intermediates?: readonly Issued[];
  /** Header names and values, alternating, sent unchanged. */
  readonly headers?: readonly string[];
  readonly agent?: Agent;
}

export async function startTls(
  clientCAs: readonly Issued[],
  inspect: (request: IncomingMessage) => unknown,
): Promise<TlsFixture> {
  const ca = await newCA('serving CA');
  const pair = await issueServer(ca);
  const results: unknown[] = [];
  const server = createServer(
    {
      cert: pair.cert,
      key: pair.key,
      requestCert: true,
      rejectUnauthorized: false,
      ca: clientCAs.map(({ cert }) => cert),
      maxHeaderSize: 256 * 1024,
    },
    (incoming, response) => {
      void Promise.try(inspect, incoming)
        .catch((error: unknown) => error)
        .then((result) => {
          results.push(result);
          response.end();
        });
    },
  );
  server.maxHeadersCount = 0;
  const port = await listenOnLoopback(server);
  return {
    port,
    serverCA: ca.cert,
    send: async ({ client, intermediates = [], headers = [], agent } = {}) => {
      const cert = client && [client, ...intermediates].map(({ cert }) => cert).join('\n');
      const pair = client ? { cert, key: client.key } : {};
      const options = { ca: ca.cert, headers: ['Host', 'localhost', ...headers], ...pair };
      await exchange(port, agent ? { ...options, agent } : options);
      return results.pop();
    },
    stop: () => closeNow(server),
  };
}
