// The one place that writes the errors of the OAuth endpoints, after RFC 6749, 5.2. What the chain in front throws
// (too large, too many, unavailable) comes out in the same form, so that clients of /oauth see one family only. People
// whose browser shows them the answer read it as a page.
import type { IncomingMessage } from 'node:http';
import type { ErrorFamily } from '../filters/error-writer.ts';
import type { RequestContext } from '../request/request-context.ts';
import { AUTHORIZATION_SERVER } from './endpoints/metadata.ts';
import { asOAuthError, headersOf } from './http/answered-error.ts';
import { writeJSON } from './http/json-answer.ts';
import { writeFault } from './page/message-page.ts';

/** Paths of the token handler: open to everybody, errors in this form. */
export function isOAuthPath(path: string): boolean {
  return path === '/oauth' || path.startsWith('/oauth/') || path === AUTHORIZATION_SERVER;
}

export const oauthErrors: ErrorFamily = { claims: isOAuthPath, write };

function write(context: RequestContext, error: unknown): void {
  const answer = asOAuthError(context, error);
  if (isShownToPeople(context.request)) return writeFault(context, answer);
  const { status, code, message } = answer;
  const headers = headersOf(context, answer);
  writeJSON(context.response, { error: code, error_description: message }, { status, headers });
}

/** A browser says so of what it is going to show. `Accept` does not tell: programs ask for HTML by default, too. */
function isShownToPeople({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-mode'] === 'navigate';
}
