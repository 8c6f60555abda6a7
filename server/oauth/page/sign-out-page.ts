// Renders the HTML page that asks whether to sign out of this server.
import { platformHeader } from './form-fields.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

export interface SignOutView {
  readonly platformName: string;
  readonly action: string;
  readonly ticket: string;
  /** Names of the users who are signed in; at least one. */
  readonly users: readonly string[];
}

export function signOutPage({ platformName, action, ticket, users }: SignOutView): Page {
  return {
    title: 'Sign out?',
    body: html`${platformHeader(platformName)}
<h1>Sign out?</h1>
<p>You are signed in as <strong>${users.join(', ')}</strong>. The programs that you opened in this browser are signed out too.</p>
<form method="post" action="${action}">
<input type="hidden" name="ticket" value="${ticket}">
<button type="submit" name="decision" value="sign-out">Sign out</button>
<button type="submit" class="second" name="decision" value="stay">Stay signed in</button>
</form>`,
  };
}
