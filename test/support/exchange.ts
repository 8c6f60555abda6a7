// Sends one HTTPS request, and reads the whole response.
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends one request to a port, on loopback unless `options` has a host. Rejects if the connection closes within the response. */
export async function exchange(port: number, options: RequestOptions, body?: string): Promise<Answer> {
  const sent = request({ host: '127.0.0.1', port, agent: false, ...options });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}
