// Pages for people: one layout, and the headers that keep a page with a password field to itself. No script runs on
// any of them. What they say is in the files beside this one; what is done with an answer, in endpoints/.
import type { ServerResponse } from 'node:http';
import { NOT_STORED } from '../http/json-answer.ts';
import { html, type Markup } from './html.ts';

export const STYLE_PATH = '/oauth/page.css';

export interface Page {
  readonly title: string;
  readonly body: Markup;
}

export interface PageOptions {
  readonly status?: number;
  /** Where its forms may lead in the end, besides back to us: a source of Content-Security-Policy. */
  readonly formTarget?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function writePage(response: ServerResponse, page: Page, options: PageOptions = {}): void {
  const { status = 200, formTarget, headers = {} } = options;
  const body = Buffer.from(layout(page).text);
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    ...pageHeaders(formTarget),
    ...headers,
  });
  response.end(body);
}

/** 303, so that the browser follows with a GET and takes no password along (RFC 9700, 4.12). */
export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, 'Content-Length': 0, ...pageHeaders() });
  response.end();
}

function pageHeaders(formTarget?: string): Readonly<Record<string, string>> {
  // Browsers apply form-action to the redirect that follows a form too, hence the client's place.
  const formAction = formTarget === undefined ? "'self'" : `'self' ${formTarget}`;
  return {
    'Content-Security-Policy': `default-src 'none'; style-src 'self'; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...NOT_STORED,
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
