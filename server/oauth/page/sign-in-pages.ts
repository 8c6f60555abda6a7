// Renders the HTML pages of a sign-in: the password form, and the form for a new password.
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { PASSWORD_LENGTH } from '../passwords/password-hasher.ts';
import { PASSWORD_VARIETY } from '../passwords/password-policy.ts';
import { describedBy, textValue } from './form-fields.ts';
import { CANCEL, type FormView, formPage } from './form-page.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { passkeyButton } from './passkey-form.ts';

/** Texts that the operator configures. */
export interface SignInPageTexts {
  readonly platformName: string;
  /** For users who forgot their password; empty for no text. */
  readonly passwordHelp: string;
}

export interface SignInView extends FormView, SignInPageTexts {
  /** Display name of the client; undefined for a page of this server. */
  readonly client: string | undefined;
  /** Readable name of the redirect target; undefined when the browser stays here. */
  readonly destination: string | undefined;
  readonly scopes: readonly string[];
  readonly notice: Markup | undefined;
  /** Initial value of the user name field. */
  readonly user: string;
  /** Identity providers at whose pages the user can sign in. */
  readonly providers: readonly { readonly name: string; readonly displayName: string }[];
  /** Identity providers that do not work. */
  readonly notices: readonly string[];
  /** Options of the browser for a sign-in with a passkey; undefined if the issuer cannot have passkeys. */
  readonly passkey: PublicKeyCredentialRequestOptionsJSON | undefined;
}

const MAX_NAME = 253;
const ALWAYS = 'Act as you, with your permissions, until the session ends';

/** Descriptions of the scopes for the user who grants them. */
const MEANINGS: Readonly<Record<string, string>> = {
  openid: 'Know who you are',
  profile: 'See your name',
  email: 'See your email address',
  groups: 'See your groups',
};

/** Password fields have no `maxlength`, because browsers silently truncate pasted text to it. */
export function signInPage(view: SignInView): Page {
  const { platformName, passwordHelp, client, destination, scopes, notice, user, alert } = view;
  const { providers, notices, passkey } = view;
  return formPage(view, {
    title: `Sign in to ${platformName}`,
    heading: 'Sign in',
    intro: html`${notice}
${requestedAccess(client, scopes)}`,
    passkey,
    fields: html`<label for="username">User name</label>
<input id="username" name="username"${textValue(user, MAX_NAME)} autocomplete="username${passkey && ' webauthn'}" autocapitalize="none" spellcheck="false" required${focus(user === '')}${describedBy(alert, 'username')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${focus(user !== '')}${describedBy(alert, 'password')}>
<button type="submit" class="primary">Sign in</button>
${passkey && passkeyButton('Sign in with a passkey', false)}${providers.map(
  ({ name, displayName }) =>
    html`<button type="submit" name="provider" value="${name}" formnovalidate>Sign in with ${displayName}</button>\n`,
)}${CANCEL}`,
    after: html`${alert === undefined ? notices.map((text) => html`<p class="muted small">${text}</p>`) : undefined}
${passwordHelp === '' ? undefined : html`<p class="muted small">${passwordHelp}</p>`}
${returnsTo(destination)}`,
  });
}

/** `user`: in a visible field, because password managers of browsers ignore hidden ones. */
export function newPasswordPage(view: FormView, user: string): Page {
  const { alert } = view;
  return formPage(view, {
    title: 'Choose a new password',
    intro: html`<p>An administrator has set your password. Replace it before you continue.</p>`,
    fields: html`<label for="username">User name</label>
<input id="username" name="username" value="${user}" autocomplete="username" readonly>
<label for="new-password">New password</label>
<p class="muted small" id="rule">At least ${PASSWORD_LENGTH.min} characters, ${PASSWORD_VARIETY} of them different. All characters are allowed, including spaces. Not your user name.</p>
<input id="new-password" name="new_password" type="password" autocomplete="new-password" required minlength="${PASSWORD_LENGTH.min}" autofocus${describedBy(alert, 'new_password', 'rule')}>
<label for="repeated">Repeat new password</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required${describedBy(alert, 'repeated')}>
<button type="submit" class="primary">Save and continue</button>`,
  });
}

/** The client, and what it can do if the user continues. */
export function requestedAccess(client: string | undefined, scopes: readonly string[]): Markup | undefined {
  if (client === undefined) return undefined;
  return html`<p><strong>${client}</strong> requests access. If you continue, it can:</p>
<ul class="scopes">${requested(scopes)}</ul>`;
}

export function returnsTo(destination: string | undefined): Markup | undefined {
  return destination === undefined
    ? undefined
    : html`<p class="muted small">Afterwards you return to ${destination}.</p>`;
}

function requested(scopes: readonly string[]): readonly Markup[] {
  const meanings = scopes.map((scope) => MEANINGS[scope] ?? `Use “${scope}”`);
  return [ALWAYS, ...meanings].map((meaning) => html`<li>${meaning}</li>`);
}

function focus(here: boolean): Markup | undefined {
  return here ? html` autofocus` : undefined;
}
