import { PASSWORD_LENGTH, PASSWORD_VARIETY } from '../passwords/password-policy.ts';
import { type Alert, about, alertBox, titled } from './alert.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

export interface NewPasswordView {
  readonly action: string;
  readonly ticket: string;
  /** Shown for the password manager too: those that browsers have do not look at hidden fields. */
  readonly user: string;
  readonly alert?: Alert | undefined;
}

// No `maxlength` on password fields: browsers silently cut what is pasted, and half a password is a different one.
export function newPasswordPage({ action, ticket, user, alert }: NewPasswordView): Page {
  return {
    title: titled('Choose a new password', alert),
    body: html`<h1>Choose a new password</h1>
<p>Yours was set by somebody else and has to be replaced before you go on.</p>
<form method="post" action="${action}">
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<label for="username">User name</label>
<input id="username" name="username" value="${user}" autocomplete="username" readonly>
<label for="new-password">New password</label>
<p class="quiet" id="rule">At least ${PASSWORD_LENGTH.least} characters, ${PASSWORD_VARIETY} of them different; any characters, spaces too. Not your user name.</p>
<input id="new-password" name="new_password" type="password" autocomplete="new-password" required minlength="${PASSWORD_LENGTH.least}" autofocus${about(alert, 'new_password', 'rule')}>
<label for="repeated">The same again</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required${about(alert, 'repeated')}>
<button type="submit">Save and go on</button>
</form>`,
  };
}
