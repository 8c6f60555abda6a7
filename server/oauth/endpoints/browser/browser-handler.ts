// Shared by the OAuth endpoints for browsers: accepts forms of this server only, and responds to an error with an HTML page, or with a
// redirect to the client with `iss` (RFC 9207).
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../../apis/oauth/oauth-error.ts';
import { endpoint, type Middleware } from '../../../http/endpoint.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { TLSCheck } from '../../../request/source-address.ts';
import { AuthorizationError } from '../../codes/authorization-request.ts';
import { type ResponseMode, withParameters } from '../../codes/redirect-target.ts';
import { type Form, readForm } from '../../http/form.ts';
import { asOAuthError } from '../../http/oauth-response.ts';
import { writeFormPost } from '../../page/form-post.ts';
import { isCrossSite } from '../../page/form-tickets.ts';
import { messagePage, redirect, writeErrorPage, writePage } from '../../page/page.ts';

export interface BrowserHandlerOptions {
  readonly issuer: () => string;
  readonly usesTLS: TLSCheck;
}

/** Wraps `handle`: it runs only over TLS, and its errors become pages. */
export function browserHandler(options: BrowserHandlerOptions, handle: Handler): Handler {
  const { issuer, usesTLS } = options;
  return withErrorPages(issuer, (context) => {
    if (!usesTLS(context)) throw insecure();
    return handle(context);
  });
}

/** Rejects the methods that a route has no handler for. `allowed` is the value of the header Allow. */
export function startAgain(allowed: string, { issuer }: Pick<BrowserHandlerOptions, 'issuer'>): Middleware {
  return endpoint(
    withErrorPages(issuer, () => {
      throw wrongMethod(allowed);
    }),
  );
}

/** Wraps `handle`: its errors become pages with fixed texts. Unknown errors go to the error handler of the server. */
function withErrorPages(issuer: () => string, handle: Handler): Handler {
  return async (context) => {
    const { request, response, log } = context;
    try {
      await handle(context);
    } catch (error) {
      if (response.headersSent) throw error;
      if (error instanceof AuthorizationError) {
        log.info({ error: error.code, reason: error.message }, 'authorization request rejected');
        redirectToClient(context, error, issuer(), { error: error.code, error_description: error.message });
        return;
      }
      if (!(error instanceof PageError || error instanceof OAuthError || error instanceof StatusError))
        throw error;
      const shown = error instanceof PageError ? error : asOAuthError(context, error);
      // The error does not reach the access log, so it is logged here.
      log[shown.status >= 500 ? 'warn' : 'info']({ err: error }, 'error page sent');
      if (shown instanceof OAuthError) return writeErrorPage(context, shown);
      const { status, title, message, headers } = shown;
      // The unread rest of a body must not be parsed as the next request.
      const rest = request.complete ? {} : { Connection: 'close' };
      writePage(response, messagePage(title, message), { status, headers: { ...headers, ...rest } });
    }
  };
}

/** Sends the browser to the client with a response (RFC 6749, 4.1.2). */
export function redirectToClient(
  { response }: RequestContext,
  to: {
    readonly redirectURI: string;
    readonly state?: string | undefined;
    readonly responseMode?: ResponseMode;
  },
  issuer: string,
  parameters: Readonly<Record<string, string>>,
): void {
  const { redirectURI, state, responseMode } = to;
  const sent = { ...parameters, ...(state === undefined ? {} : { state }), iss: issuer };
  if (responseMode === 'form_post') writeFormPost(response, redirectURI, sent);
  else redirect(response, withParameters(redirectURI, sent, responseMode));
}

/** An error page with a title and an instruction for the user. */
export class PageError extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, title: string, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.name = 'PageError';
    this.status = status;
    this.title = title;
    this.headers = headers;
  }
}

/** Reads a form of this server. Throws PageError 403 for one of another origin (CSRF). */
export async function readOwnForm({ request }: RequestContext): Promise<Form> {
  if (isCrossSite(request)) throw forged();
  return readForm(request);
}

/** CSRF protection: a form without a valid ticket, or from another origin. */
export function forged(): PageError {
  return new PageError(
    403,
    'Start again',
    'This form was not filled in on a page of this server. Go back to where you began, and try again.',
  );
}

function insecure(): PageError {
  return new PageError(
    400,
    'This connection is not secure',
    'Passwords are accepted over HTTPS only. Use the https address of this server.',
  );
}

function wrongMethod(allowed: string): PageError {
  return new PageError(405, 'Start again', 'Go back to where you began, and try again.', {
    Allow: allowed,
  });
}
