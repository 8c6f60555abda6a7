// Renders the HTML pages of the device flow (RFC 8628): user code form, phishing warning and result pages.
import { type Alert, alertBox, describedBy, platformHeader, textValue } from './form-fields.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { shortUserAgent } from './user-agent.ts';

const MAX_TYPED = 64;

interface UserCodeView {
  readonly platformName: string;
  readonly action: string;
  /** Initial value of the code field. */
  readonly code: string;
  readonly alert?: Alert | undefined;
}

/** Form for the user code that a device shows (RFC 8628, 3.3). */
export function userCodePage({ platformName, action, code, alert }: UserCodeView): Page {
  return {
    title: 'Connect a device',
    alert,
    body: html`${platformHeader(platformName)}
<h1>Connect a device</h1>
<p>Enter the code that your device shows.</p>
<form method="get" action="${action}">
${alertBox(alert)}
<label for="user_code">Code</label>
<p class="muted small" id="format">Eight letters: XXXX-XXXX</p>
<input class="code" id="user_code" name="user_code"${textValue(code, MAX_TYPED)} placeholder="XXXX-XXXX" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus${describedBy(alert, 'user_code', 'format')}>
<button type="submit" class="primary">Continue</button>
</form>`,
  };
}

/** Warning against remote phishing: an attacker may have sent the user the link (RFC 8628, 5.4), and must have no room for a text here. */
export function deviceNotice(code: string, source: string, userAgent: string): Markup {
  const program = shortUserAgent(userAgent);
  return html`<p>You are about to connect a device. Continue only if you started this yourself and your device shows the code <strong>${code}</strong>.</p>
<p class="muted small">The request came from ${source === '' ? 'an unknown address' : source}${program === '' ? undefined : html`, from a program that calls itself “${program}”`}.</p>`;
}

export function deviceConnectedPage(client: string): Page {
  return {
    title: 'Device connected',
    body: html`<h1>Device connected</h1>\n<p role="status"><strong>${client}</strong> is signed in as you. You can close this page and go back to your device.</p>`,
  };
}

export function deviceRefusedPage(): Page {
  return {
    title: 'Device not connected',
    body: html`<h1>Device not connected</h1>\n<p role="status">You cancelled the request. You can close this page.</p>`,
  };
}
