// Sends requests with forms to test servers over TLS.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface SiteResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface SiteRequest {
  /** By default GET, or POST with a form. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | string;
}

export async function askSite(url: string, options: SiteRequest = {}): Promise<SiteResponse> {
  const { method, headers = {}, form } = options;
  const body = form === undefined || typeof form === 'string' ? form : new URLSearchParams(form).toString();
  const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const outgoing = request(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...type, ...headers },
    rejectUnauthorized: false,
    agent: false,
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text: await text(incoming) };
}
