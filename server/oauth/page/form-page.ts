// Renders a page with one form: its heading, the reason why it is shown again, and perhaps a passkey.
import { type Alert, alertBox, platformHeader } from './form-fields.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { type PasskeyOptions, passkeyAttributes, passkeyScript } from './passkey-form.ts';

export interface FormView {
  readonly platformName: string;
  /** Path that the form is posted to. */
  readonly action: string;
  /** CSRF token, with the state of the form. */
  readonly ticket: string;
  readonly alert?: Alert | undefined;
}

interface FormParts {
  readonly title: string;
  /** Default: the title. */
  readonly heading?: string;
  /** Above the form. */
  readonly intro?: Markup | undefined;
  /** Fields and buttons. */
  readonly fields: Markup;
  /** Below the form. */
  readonly after?: Markup | undefined;
  /** For a form with which the browser uses or creates a passkey. */
  readonly passkey?: PasskeyOptions | undefined;
}

export const CANCEL = html`<button type="submit" name="decision" value="cancel" formnovalidate>Cancel</button>`;

export function formPage({ platformName, action, ticket, alert }: FormView, parts: FormParts): Page {
  const { title, heading = title, intro, fields, after, passkey } = parts;
  const script = passkey && passkeyScript();
  return {
    title,
    alert,
    scriptHash: script?.hash,
    body: html`${platformHeader(platformName)}
<h1>${heading}</h1>
${intro}
<form method="post" action="${action}"${passkey && passkeyAttributes(passkey)}>
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
${fields}
</form>
${after}
${script?.markup}`,
  };
}
