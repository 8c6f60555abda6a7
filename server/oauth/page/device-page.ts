import { type Alert, about, alertBox, titled } from './alert.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { typedText } from './typed-text.ts';

const MAX_TYPED = 64;

export interface UserCodeView {
  readonly action: string;
  /** The initial value of the field. */
  readonly code: string;
  readonly alert?: Alert | undefined;
}

/** Asks for the code that a device shows. */
export function userCodePage({ action, code, alert }: UserCodeView): Page {
  return {
    title: titled('Connect a device', alert),
    body: html`<h1>Connect a device</h1>
<p>Enter the code that your device shows.</p>
<form method="get" action="${action}">
${alertBox(alert)}
<label for="user_code">Code</label>
<input class="code" id="user_code" name="user_code"${typedText(code, MAX_TYPED)} autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus${about(alert, 'user_code')}>
<button type="submit">Go on</button>
</form>`,
  };
}

/** RFC 8628, 5.4: whoever was sent here by somebody else must be able to notice. */
export function deviceNotice(code: string, source: string, userAgent: string): Markup {
  return html`<p>You are about to connect a device. Go on only if you started this yourself and your device shows the code <strong>${code}</strong>.</p>
<p class="quiet">The request came from ${source === '' ? 'an unknown address' : source}${userAgent === '' ? undefined : html`, from a program that calls itself “${userAgent}”`}.</p>`;
}

export function deviceConnectedPage(client: string): Page {
  return {
    title: 'Device connected',
    body: html`<h1>Device connected</h1>\n<p role="status"><strong>${client}</strong> is signed in as you. You can close this page and go back to your device.</p>`,
  };
}

export function deviceRefusedPage(): Page {
  return {
    title: 'Device refused',
    body: html`<h1>Device refused</h1>\n<p role="status">The device was not connected. You can close this page.</p>`,
  };
}
