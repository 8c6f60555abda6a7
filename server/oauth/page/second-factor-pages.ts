// Renders the HTML pages of second factors: the code at a sign-in, a new authenticator app, and new recovery codes.
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { encodeQR } from 'qr';
import { describedBy } from './form-fields.ts';
import { CANCEL, type FormView, formPage } from './form-page.ts';
import { html, Markup } from './html.ts';
import type { Page } from './page.ts';
import { passkeyButton } from './passkey-form.ts';

/** The second factor at a sign-in. */
interface FactorView extends FormView {
  readonly user: string;
  /** What the user can use instead. */
  readonly others: readonly FactorMethod[];
}

export type FactorMethod = 'passkey' | 'app' | 'recovery';

const METHODS: Readonly<Record<FactorMethod, string>> = {
  passkey: 'Use a passkey',
  app: 'Use the authenticator app',
  recovery: 'Use a recovery code',
};

function factorPage(view: FactorView, fields: Markup, passkey?: PublicKeyCredentialRequestOptionsJSON): Page {
  const { user, others } = view;
  return formPage(view, {
    title: 'Confirm that it is you',
    intro: html`<p>You are signing in as <strong>${user}</strong>.</p>`,
    passkey,
    fields: html`${fields}${others.map(
      (method) =>
        html`<button type="submit" name="method" value="${method}" formnovalidate>${METHODS[method]}</button>\n`,
    )}${CANCEL}`,
  });
}

export function passkeyPage(view: FactorView, options: PublicKeyCredentialRequestOptionsJSON): Page {
  const fields = html`<p data-unsupported>This browser cannot use a passkey: it needs scripts, and a current version.</p>
${passkeyButton('Use your passkey', true)}`;
  return factorPage(view, fields, options);
}

export function codePage(view: FactorView, method: 'app' | 'recovery'): Page {
  const isApp = method === 'app';
  const input = isApp
    ? html` class="code" inputmode="numeric" autocomplete="one-time-code"`
    : html` autocomplete="off" autocapitalize="none" spellcheck="false"`;
  const fields = html`<input type="hidden" name="with" value="${method}">
<label for="code">${isApp ? 'Code of your authenticator app' : 'Recovery code'}</label>
<p class="muted small" id="format">${isApp ? 'Six digits. Each code is valid once.' : 'One of the codes that you have saved, or a one-time code of an administrator.'}</p>
<input id="code" name="code"${input} required autofocus${describedBy(view.alert, 'code', 'format')}>
<button type="submit" class="primary">Sign in</button>
`;
  return factorPage(view, fields);
}

interface NewAppView extends FormView {
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

const PASSKEY_INSTEAD = html`<button type="submit" name="method" value="passkey" formnovalidate>Add a passkey instead</button>
`;

export function newAppPage(view: NewAppView): Page {
  const { user, secret, uri, isRequired, canAddPasskey, alert } = view;
  const groups = secret.match(/.{1,4}/g) ?? [];
  return formPage(view, {
    title: 'Add an authenticator app',
    intro: html`${isRequired ? html`<p>Your account needs a second factor.</p>` : undefined}
<p>Scan this code with an authenticator app, or <a href="${uri}">open it</a> on this device.</p>
<div class="qr" role="img" aria-label="QR code; the key below has the same content">${new Markup(encodeQR(uri, 'svg'))}</div>
<p class="muted small">Key to type instead: <code>${groups.join(' ')}</code></p>`,
    fields: html`<label for="code">Code that the app shows for ${user}</label>
<input id="code" name="code" class="code" inputmode="numeric" autocomplete="one-time-code" required autofocus${describedBy(alert, 'code')}>
<button type="submit" class="primary">Continue</button>
${canAddPasskey ? PASSKEY_INSTEAD : undefined}${CANCEL}`,
  });
}

/** The codes are stored when the user continues, so that a user never has unseen ones. */
export function recoveryCodesPage(view: FormView, codes: readonly string[]): Page {
  return formPage(view, {
    title: 'Save your recovery codes',
    intro: html`<p>With one of these codes you can sign in when you have lost your device. Each code is valid once. They are shown only now.</p>
<ul class="codes">
${codes.map((code) => html`<li><code>${code}</code></li>\n`)}</ul>`,
    fields: html`<button type="submit" class="primary">I have saved them</button>
${CANCEL}`,
  });
}
