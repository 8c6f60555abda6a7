// Writes the error responses of the OAuth endpoints (RFC 6749, 5.2). Page requests of browsers get an HTML page.
import type { IncomingMessage } from 'node:http';
import type { ErrorFamily } from '../filters/error-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { AUTHORIZATION_SERVER } from './endpoints/server-metadata.ts';
import { asOAuthError, errorHeaders, writeJSON } from './http/oauth-response.ts';
import { ACCOUNT_PATH } from './page/account-sections.ts';
import { writeErrorPage } from './page/page.ts';

/** Paths of the authorization server. They need no authentication by the filter chain. */
export function isOAuthPath(path: string): boolean {
  if (path === '/oauth' || path.startsWith('/oauth/') || path === AUTHORIZATION_SERVER) return true;
  return path === ACCOUNT_PATH || path.startsWith(`${ACCOUNT_PATH}/`);
}

export const oauthErrors: ErrorFamily = { claims: isOAuthPath, write };

function write(context: RequestContext, error: unknown): void {
  const shown = asOAuthError(context, error);
  if (isNavigation(context.request)) return writeErrorPage(context, shown);
  const { status, code, message } = shown;
  const headers = errorHeaders(context, shown);
  writeJSON(context.response, { error: code, error_description: message }, { status, headers });
}

/**
 * Whether a browser will display the response. Over plain HTTP, and before 2023, browsers send no Fetch Metadata. Programs send
 * text/html by default too, but only browsers accept XHTML.
 */
function isNavigation({ headers: { accept = '', ...headers } }: IncomingMessage): boolean {
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? accept.includes('application/xhtml+xml') : mode === 'navigate';
}
