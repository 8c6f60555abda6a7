// Renders HTML pages and error pages, with the layout, style sheet and security headers. A page runs at most one
// script: to submit a form to a client (form-post.ts), or for a passkey (passkey-form.ts).
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OAuthError } from '../../../apis/oauth/oauth-error.ts';
import { staticBytes } from '../../http/static-document.ts';
import type { Handler, RequestContext } from '../../request/request-context.ts';
import { errorHeaders, NO_STORE, writePublicDocument } from '../http/oauth-response.ts';
import { type Alert } from './form-fields.ts';
import { html, type Markup } from './html.ts';

const STYLE_PATH = '/oauth/page.css';
const STYLE_MAX_AGE_SECONDS = 300;

export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Why the page is shown again. */
  readonly alert?: Alert | undefined;
  /** For more than one form. */
  readonly wide?: boolean;
  /** Of the only script that the page may run, as in a Content-Security-Policy. */
  readonly scriptHash?: string | undefined;
}

export interface PageOptions {
  /** Default: 400 for a page with an alert, otherwise 200. */
  readonly status?: number;
  /** Whether the form of the page ends in a redirect to a client. */
  readonly redirectsToClient?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export function writePage(response: ServerResponse, page: Page, options: PageOptions = {}): void {
  const { status = page.alert ? 400 : 200, redirectsToClient = false, headers = {} } = options;
  const body = Buffer.from(layout(page).text);
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': body.length,
    ...pageHeaders(redirectsToClient, page.scriptHash),
    ...headers,
  });
  response.end(body);
}

/** 303, so that the browser follows with a GET and does not resend the password (RFC 9700, 4.12). */
export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { Location: location, 'Content-Length': 0, ...pageHeaders() });
  response.end();
}

/** Page without a form: a heading, and a text that says what the user can do. */
export function messagePage(title: string, text: string): Page {
  return { title, body: html`<h1>${title}</h1>\n<p role="alert">${text}</p>` };
}

/** Writes an OAuth error as an HTML page for browsers. Programs get the JSON of RFC 6749, 5.2, instead. */
export function writeErrorPage(context: RequestContext, error: OAuthError): void {
  const { status, message } = error;
  const page = errorPage(status, message, errorTitle(context.info.path));
  writePage(context.response, page, { status, headers: errorHeaders(context, error) });
}

/** Handler of page.css, which is the style of all pages and the one of these pages; reads the files once. */
export function styleHandler(): Handler {
  const files = ['../../http/base.css', 'sign-in.css'];
  const styles = files.map((file) => readFileSync(new URL(file, import.meta.url)));
  const document = staticBytes(Buffer.concat(styles));
  return (context) =>
    writePublicDocument(context, document, 'text/css; charset=utf-8', STYLE_MAX_AGE_SECONDS);
}

const POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'";

function pageHeaders(redirectsToClient = false, scriptHash?: string): Readonly<Record<string, string>> {
  const policy = scriptHash === undefined ? POLICY : `${POLICY}; script-src '${scriptHash}'`;
  return {
    // Some browsers apply form-action to every redirect after a form. Only the client knows where its redirect URI redirects
    // to, so a page whose form leads to a client cannot have form-action.
    'Content-Security-Policy': redirectsToClient ? policy : `${policy}; form-action 'self'`,
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    ...NO_STORE,
  };
}

/** Titles by the start of the path. */
const ERROR_TITLES = [
  ['/oauth/logout', 'Sign-out cannot continue'],
  ['/oauth/device', 'The device cannot be connected'],
  ['/oauth/authorize', 'Sign-in cannot continue'],
  ['/oauth/sign-in', 'Sign-in cannot continue'],
  ['/account', 'The account page cannot continue'],
] as const;

function errorTitle(path: string): string {
  return ERROR_TITLES.find(([start]) => path.startsWith(start))?.[1] ?? 'The request is not valid';
}

function errorPage(status: number, description: string, title: string): Page {
  if (status === 429 || status === 503 || status === 504) {
    return messagePage('Try again in a moment', 'Go back, wait a moment and try again.');
  }
  if (status === 404) {
    return messagePage('Page not found', 'Check the address: it must match exactly.');
  }
  // The name of a parameter keeps its case.
  const start = /^[a-z]+_/.test(description) ? description.charAt(0) : description.charAt(0).toUpperCase();
  const reason = `${start}${description.slice(1)}.`;
  const advice = 'Go back to the application that sent you here, or contact its operator.';
  return messagePage(title, `${reason} ${advice}`);
}

function layout({ title, alert, body, wide = false }: Page): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${alert && 'Error: '}${title}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main class="${wide ? 'wide' : 'gate card'} stack">
${body}
</main>
</body>
</html>
`;
}

const COOKIE_ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/**
 * A cookie of the pages. Browsers do not send it with forms and frames of other sites (SameSite), and sibling domains cannot set it
 * (prefix __Host-). SameSite=Lax, because users arrive from other sites.
 */
export class HostCookie {
  readonly #name: string;
  readonly #inHeader: RegExp;

  /** `value`: pattern of its values. */
  constructor(name: string, value: string) {
    this.#name = `__Host-${name}`;
    this.#inHeader = new RegExp(`(?:^|; ?)${this.#name}=(${value})(?:;|$)`);
  }

  /** Returns undefined for a request without the cookie, and for an invalid value. */
  read({ headers }: IncomingMessage): string | undefined {
    return this.#inHeader.exec(headers.cookie ?? '')?.[1];
  }

  /** The header Set-Cookie. Without `maxAge`, in seconds, the cookie ends with the browser; an empty value removes it. */
  header(value: string, maxAge?: number): string {
    const age = value === '' ? 0 : maxAge;
    return `${this.#name}=${value}; ${COOKIE_ATTRIBUTES}${age === undefined ? '' : `; Max-Age=${age}`}`;
  }
}
