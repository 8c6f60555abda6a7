// Renders the page on which a user proves the password of a directory, to link an account of it.
import { type Alert, alertBox, describedBy, platformHeader, textValue, titled } from './form-fields.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

export interface DirectoryLinkView {
  readonly platformName: string;
  /** Path that the form is posted to. */
  readonly action: string;
  readonly ticket: string;
  /** The user who is signed in. */
  readonly account: string;
  readonly directory: { readonly name: string; readonly displayName: string };
  /** Initial value of the user name field. */
  readonly user: string;
  readonly alert?: Alert | undefined;
}

const MAX_NAME = 253;

export function directoryLinkPage(view: DirectoryLinkView): Page {
  const { platformName, action, ticket, account, directory, user, alert } = view;
  const title = `Link ${directory.displayName}`;
  return {
    title: titled(title, alert),
    body: html`${platformHeader(platformName)}
<h1>${title}</h1>
<p>Sign in with your account of ${directory.displayName}. Afterwards it can sign in as <strong>${account}</strong>.</p>
<form method="post" action="${action}">
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<input type="hidden" name="link" value="${directory.name}">
<label for="username">User name</label>
<input id="username" name="username"${textValue(user, MAX_NAME)} autocomplete="off" autocapitalize="none" spellcheck="false" required autofocus${describedBy(alert, 'username')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${describedBy(alert, 'password')}>
<button type="submit" name="decision" value="link">Link</button>
<button type="submit" class="second" name="decision" value="cancel" formnovalidate>Cancel</button>
</form>`,
  };
}
