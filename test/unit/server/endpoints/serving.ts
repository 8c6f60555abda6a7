// HTTP server with one handler, without the filter chain, for unit tests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { Exchange } from '../../../../server/filters/exchange.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { parseRequestInfo } from '../../../../server/request/request-info.ts';

export interface Served {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Lines of the log. */
  readonly lines: readonly string[];
}

export async function serve(handler: Handler, target: string, method = 'GET'): Promise<Served> {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const server = createServer((request, response) => {
    const exchange = new Exchange({ request, response, secure: true, upgrade: undefined }, log, 0, 0);
    exchange.info = parseRequestInfo(method, request.url ?? '');
    Promise.try(handler, exchange).catch((error: unknown) => {
      response.writeHead(error instanceof StatusError ? error.code : 599).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const response = await fetch(`http://127.0.0.1:${port}${target}`, { method });
    return { status: response.status, headers: response.headers, text: await response.text(), lines };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
