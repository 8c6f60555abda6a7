import { html } from './html.ts';
import type { Page } from './page.ts';

/** A page without a next step: one heading, one sentence on what to do. */
export function messagePage(title: string, text: string): Page {
  return { title, body: html`<h1>${title}</h1>\n<p role="alert">${text}</p>` };
}
