// Pages for people: one layout, and the headers that keep a page with a password field to itself. No script runs on
// any of them. What they say is in the files beside this one; what is done with an answer, in endpoints/.
import type { ServerResponse } from 'node:http';
import { NO_STORE } from '../http/json-response.ts';
import { html, type Markup } from './html.ts';

export const STYLE_PATH = '/oauth/page.css';

export interface Page {
  readonly title: string;
  readonly body: Markup;
}

export interface PageOptions {
  readonly status?: number;
  /** Whether its form leads the browser on to a client. */
  readonly leadsOn?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export function writePage(response: ServerResponse, page: Page, options: PageOptions = {}): void {
  const { status = 200, leadsOn = false, headers = {} } = options;
  const body = Buffer.from(layout(page).text);
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    ...pageHeaders(leadsOn),
    ...headers,
  });
  response.end(body);
}

/** 303, so that the browser follows with a GET and takes no password along (RFC 9700, 4.12). */
export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, 'Content-Length': 0, ...pageHeaders() });
  response.end();
}

const POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'";

function pageHeaders(leadsOn = false): Readonly<Record<string, string>> {
  return {
    // Some browsers apply form-action to every redirect that follows a form. Only the client knows where those behind its
    // own address lead, so a page on the way to a client cannot have it.
    'Content-Security-Policy': leadsOn ? POLICY : `${POLICY}; form-action 'self'`,
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...NO_STORE,
  };
}

function layout({ title, body }: Page): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
