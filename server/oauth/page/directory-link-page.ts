// Renders the page on which a user proves the password of a directory, to link an account of it.
import { describedBy, textValue } from './form-fields.ts';
import { CANCEL, type FormView, formPage } from './form-page.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

interface DirectoryLinkView extends FormView {
  /** The user who is signed in. */
  readonly account: string;
  readonly directory: { readonly name: string; readonly displayName: string };
  /** Initial value of the user name field. */
  readonly user: string;
}

const MAX_NAME = 253;

export function directoryLinkPage(view: DirectoryLinkView): Page {
  const { account, directory, user, alert } = view;
  return formPage(view, {
    title: `Link ${directory.displayName}`,
    intro: html`<p>Sign in with your account of ${directory.displayName}. Afterwards it can sign in as <strong>${account}</strong>.</p>`,
    fields: html`<input type="hidden" name="link" value="${directory.name}">
<label for="username">User name</label>
<input id="username" name="username"${textValue(user, MAX_NAME)} autocomplete="off" autocapitalize="none" spellcheck="false" required autofocus${describedBy(alert, 'username')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${describedBy(alert, 'password')}>
<button type="submit" class="primary" name="decision" value="link">Link</button>
${CANCEL}`,
  });
}
