// Sends requests with forms to test servers over TLS.
import type { IncomingHttpHeaders } from 'node:http';
import { Agent } from 'node:https';
import { expect } from 'chai';
import { exchange } from '../exchange.ts';

export interface SiteResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface SiteRequest {
  /** By default GET, or POST with a form. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | string;
}

/** Keeps connections open as a browser does: a handshake takes most of the time of a request. */
const agent = new Agent({ keepAlive: true });

export async function askSite(url: string, options: SiteRequest = {}): Promise<SiteResponse> {
  const { method, headers = {}, form } = options;
  const body = form === undefined || typeof form === 'string' ? form : new URLSearchParams(form).toString();
  const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const { hostname, port, origin } = new URL(url);
  const request = {
    host: hostname,
    // As it is: the URL parser would encode characters that some clients send raw.
    path: url.slice(origin.length),
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...type, ...headers },
    rejectUnauthorized: false,
    agent,
  };
  const { body: text, ...head } = await exchange(Number(port), request, body);
  return { ...head, text };
}

/** Expects a page with this status, which contains all the texts. */
export function expectPage({ status, text }: SiteResponse, expected: number, ...texts: string[]): void {
  expect(status, text).to.equal(expected);
  for (const each of texts) expect(text).to.include(each);
}
