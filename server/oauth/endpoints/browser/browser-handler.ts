// What the endpoints for browsers share: faults become pages, and answers to a client become redirects that say who
// answers (RFC 9207). This folder owns what people see: signing in, letting a client in, entering the code of a
// device. What programs ask for is next door, how the pages look is in page/.
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../../apis/oauth/errors.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { AuthorizationRefusal } from '../../codes/authorization-request.ts';
import { type URIPart, withParameters } from '../../codes/redirect-uri.ts';
import { asOAuthError } from '../../http/answered-error.ts';
import { messagePage, writeFault } from '../../page/message-page.ts';
import { redirect, writePage } from '../../page/page.ts';

/** `handle` with its errors told to the person in front of it, in fixed words. Unknown ones go to the chain. */
export function forBrowsers(
  methods: readonly string[],
  issuer: () => string,
  handle: (context: RequestContext) => Promise<void> | void,
): Handler {
  return async (context) => {
    const { request, response, log } = context;
    try {
      if (!methods.includes(request.method ?? '')) throw notAllowed(methods);
      if (!isPrivate(context)) throw notPrivate();
      await handle(context);
    } catch (error) {
      if (response.headersSent) throw error;
      if (error instanceof AuthorizationRefusal) {
        log.info({ error: error.code, reason: error.message }, 'an authorization request was refused');
        answerClient(context, error, issuer(), { error: error.code, error_description: error.message });
        return;
      }
      if (!(error instanceof PageFault || error instanceof OAuthError || error instanceof StatusError))
        throw error;
      const fault = error instanceof PageFault ? error : asOAuthError(context, error);
      // The access log leaves the level of this to us.
      log[fault.status >= 500 ? 'warn' : 'info']({ err: error }, 'a page tells of an error');
      if (fault instanceof OAuthError) return writeFault(context, fault);
      const { status, title, message, headers } = fault;
      // The rest of a body that nobody is going to read must not be taken for the next request.
      const rest = request.complete ? {} : { Connection: 'close' };
      writePage(response, messagePage(title, message), { status, headers: { ...headers, ...rest } });
    }
  };
}

/** Sends the browser back to the client with an answer (RFC 6749, 4.1.2). */
export function answerClient(
  { response }: RequestContext,
  to: { readonly redirectURI: string; readonly state?: string | undefined; readonly part?: URIPart },
  issuer: string,
  answer: Readonly<Record<string, string>>,
): void {
  const { redirectURI, state, part } = to;
  redirect(response, withParameters(redirectURI, { ...answer, state, iss: issuer }, part));
}

/** A fault that the person can correct. */
export class PageFault extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, title: string, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.name = 'PageFault';
    this.status = status;
    this.title = title;
    this.headers = headers;
  }
}

/** A proxy that terminates TLS for us says so; a client that lies about it only deceives itself. */
function isPrivate({ secure, request }: RequestContext): boolean {
  return secure || request.headers['x-forwarded-proto'] === 'https';
}

function notPrivate(): PageFault {
  return new PageFault(
    400,
    'This connection is not private',
    'Passwords are taken over HTTPS only. Use the https address of this server.',
  );
}

function notAllowed(methods: readonly string[]): PageFault {
  return new PageFault(405, 'Start again', 'Go back to the program that sent you here and sign in again.', {
    Allow: methods.join(', '),
  });
}
