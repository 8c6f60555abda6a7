// Renders the HTML pages of second factors: the code at a sign-in, a new authenticator app, and new recovery codes.
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { encodeQR } from 'qr';
import { type Alert, alertBox, describedBy, platformHeader, titled } from './form-fields.ts';
import { html, Markup } from './html.ts';
import type { Page } from './page.ts';
import { passkeyAttributes, passkeyButton, passkeyScript } from './passkey-form.ts';

interface FactorView {
  readonly platformName: string;
  readonly action: string;
  readonly ticket: string;
  readonly alert?: Alert | undefined;
}

export interface CodeView extends FactorView {
  readonly user: string;
  readonly method: 'app' | 'recovery';
  /** What the user can use instead. */
  readonly others: readonly FactorMethod[];
}

export type FactorMethod = 'passkey' | 'app' | 'recovery';

const CONFIRM = 'Confirm that it is you';
const METHODS: Readonly<Record<FactorMethod, string>> = {
  passkey: 'Use a passkey',
  app: 'Use the authenticator app',
  recovery: 'Use a recovery code',
};

function otherWays(others: readonly FactorMethod[]): Markup {
  return html`${others.map(
    (method) =>
      html`<button type="submit" class="second" name="method" value="${method}" formnovalidate>${METHODS[method]}</button>\n`,
  )}<button type="submit" class="second" name="decision" value="cancel" formnovalidate>Cancel</button>`;
}

export interface PasskeyView extends FactorView, Pick<CodeView, 'user' | 'others'> {
  readonly options: PublicKeyCredentialRequestOptionsJSON;
}

export function passkeyPage(view: PasskeyView): Page {
  const { platformName, action, ticket, user, others, options, alert } = view;
  return {
    title: titled(CONFIRM, alert),
    body: html`${platformHeader(platformName)}
<h1>${CONFIRM}</h1>
<p>You are signing in as <strong>${user}</strong>.</p>
<form method="post" action="${action}"${passkeyAttributes(options)}>
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<p data-unsupported>This browser cannot use a passkey: it needs scripts, and a current version.</p>
${passkeyButton('Use your passkey', 'first')}${otherWays(others)}
</form>
${passkeyScript().markup}`,
  };
}

export function codePage({ platformName, action, ticket, user, method, others, alert }: CodeView): Page {
  const isApp = method === 'app';
  const input = isApp
    ? html` class="code" inputmode="numeric" autocomplete="one-time-code"`
    : html` autocomplete="off" autocapitalize="none" spellcheck="false"`;
  return {
    title: titled(CONFIRM, alert),
    body: html`${platformHeader(platformName)}
<h1>${CONFIRM}</h1>
<p>You are signing in as <strong>${user}</strong>.</p>
<form method="post" action="${action}">
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<input type="hidden" name="with" value="${method}">
<label for="code">${isApp ? 'Code of your authenticator app' : 'Recovery code'}</label>
<p class="quiet" id="format">${isApp ? 'Six digits. Each code is valid once.' : 'One of the codes that you have saved, or a one-time code of an administrator.'}</p>
<input id="code" name="code"${input} required autofocus${describedBy(alert, 'code', 'format')}>
<button type="submit">Sign in</button>
${otherWays(others)}
</form>`,
  };
}

export interface NewAppView extends FactorView {
  readonly user: string;
  /** In base32. */
  readonly secret: string;
  /** The text of the QR code. */
  readonly uri: string;
  /** Whether the user cannot sign in without a second factor. */
  readonly isRequired: boolean;
  /** Whether the user can add a passkey instead. */
  readonly canAddPasskey: boolean;
}

const PASSKEY_INSTEAD = html`<button type="submit" class="second" name="method" value="passkey" formnovalidate>Add a passkey instead</button>
`;

export function newAppPage(view: NewAppView): Page {
  const { platformName, action, ticket, user, secret, uri, isRequired, canAddPasskey, alert } = view;
  const title = 'Add an authenticator app';
  const groups = secret.match(/.{1,4}/g) ?? [];
  return {
    title: titled(title, alert),
    body: html`${platformHeader(platformName)}
<h1>${title}</h1>
${isRequired ? html`<p>Your account needs a second factor.</p>` : undefined}
<p>Scan this code with an authenticator app, or <a href="${uri}">open it</a> on this device.</p>
<div class="qr" role="img" aria-label="QR code; the key below has the same content">${new Markup(encodeQR(uri, 'svg'))}</div>
<p class="quiet">Key to type instead: <code>${groups.join(' ')}</code></p>
<form method="post" action="${action}">
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<label for="code">Code that the app shows for ${user}</label>
<input id="code" name="code" class="code" inputmode="numeric" autocomplete="one-time-code" required autofocus${describedBy(alert, 'code')}>
<button type="submit">Continue</button>
${canAddPasskey ? PASSKEY_INSTEAD : undefined}<button type="submit" class="second" name="decision" value="cancel" formnovalidate>Cancel</button>
</form>`,
  };
}

export interface RecoveryCodesView extends FactorView {
  readonly codes: readonly string[];
}

/** The codes are stored when the user continues, so that a user never has unseen ones. */
export function recoveryCodesPage({ platformName, action, ticket, codes }: RecoveryCodesView): Page {
  const title = 'Save your recovery codes';
  return {
    title,
    body: html`${platformHeader(platformName)}
<h1>${title}</h1>
<p>With one of these codes you can sign in when you have lost your device. Each code is valid once. They are shown only now.</p>
<ul class="codes">
${codes.map((code) => html`<li><code>${code}</code></li>\n`)}</ul>
<form method="post" action="${action}">
<input type="hidden" name="ticket" value="${ticket}">
<button type="submit">I have saved them</button>
<button type="submit" class="second" name="decision" value="cancel">Cancel</button>
</form>`,
  };
}
