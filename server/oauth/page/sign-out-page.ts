// Renders the HTML page that asks whether to sign out of this server.
import { type FormView, formPage } from './form-page.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

/** `users`: names of the users who are signed in; at least one. */
export function signOutPage(view: FormView, users: readonly string[]): Page {
  return formPage(view, {
    title: 'Sign out?',
    intro: html`<p>You are signed in as <strong>${users.join(', ')}</strong>. The programs that you opened in this browser are signed out too.</p>`,
    fields: html`<button type="submit" class="primary" name="decision" value="sign-out">Sign out</button>
<button type="submit" name="decision" value="stay">Stay signed in</button>`,
  });
}
