import type { OAuthError } from '../../../apis/oauth/errors.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { errorHeaders } from '../http/error-response.ts';
import { html } from './html.ts';
import { type Page, writePage } from './page.ts';

/** A page without a next step: one heading, one sentence on what to do. */
export function messagePage(title: string, text: string): Page {
  return { title, body: html`<h1>${title}</h1>\n<p role="alert">${text}</p>` };
}

/** What a person is told in place of an error of RFC 6749, 5.2. */
export function writeFault(context: RequestContext, error: OAuthError): void {
  const { status, message } = error;
  writePage(context.response, faultPage(status, message), { status, headers: errorHeaders(context, error) });
}

function faultPage(status: number, description: string): Page {
  if (status === 429 || status === 503 || status === 504) {
    return messagePage('Try again in a moment', 'Go back, wait a moment and try again.');
  }
  if (status === 404) {
    return messagePage('There is no such page', 'Look at the address again: every letter of it counts.');
  }
  const reason = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  const cure = 'Go back to the program that sent you here; whoever looks after it can help.';
  return messagePage('Sign-in cannot continue', `${reason} ${cure}`);
}
