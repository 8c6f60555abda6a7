// Starts a real TLS server that requests client certificates, for unit tests.
import type { IncomingMessage } from 'node:http';
import { type Agent, createServer } from 'node:https';
import { type Issued, issueServer, newCA } from '../../../support/certificates.ts';
import { exchange } from '../../../support/exchange.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';

interface SendOptions {
  readonly client?: Issued;
  /** Header names and values, alternating, sent unchanged. */
  readonly headers?: readonly string[];
  readonly agent?: Agent;
}

export type TlsFixture = Awaited<ReturnType<typeof startTls>>;

/** Starts a TLS server that requests client certificates and calls `inspect` for each request. */
export async function startTls(clientCAs: readonly Issued[], inspect: (request: IncomingMessage) => unknown) {
  const ca = await newCA('serving CA');
  const pair = await issueServer(ca);
  const results: unknown[] = [];
  const trust = { requestCert: true, rejectUnauthorized: false, ca: clientCAs.map(({ cert }) => cert) };
  const server = createServer(
    { cert: pair.cert, key: pair.key, ...trust, maxHeaderSize: 256 * 1024 },
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
    /** Sends a request, and returns the result of `inspect`. */
    send: async ({ client, headers = [], agent }: SendOptions = {}): Promise<unknown> => {
      const certificate = client ? { cert: client.cert, key: client.key } : {};
      const options = { ca: ca.cert, headers: ['Host', 'localhost', ...headers], ...certificate };
      await exchange(port, agent ? { ...options, agent } : options);
      return results.pop();
    },
    stop: () => closeNow(server),
  };
}
