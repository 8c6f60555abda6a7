import { type Alert, about, alertBox, titled } from './alert.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { typedText } from './typed-text.ts';

export interface SignInView {
  /** What the form is sent to. */
  readonly action: string;
  readonly ticket: string;
  /** The name of the client. */
  readonly client: string;
  /** Where the browser goes afterwards, as people read it; undefined when it stays here. */
  readonly destination: string | undefined;
  readonly scopes: readonly string[];
  readonly notice: Markup | undefined;
  /** The initial value of the field. */
  readonly user: string;
  readonly alert?: Alert | undefined;
}

const MAX_NAME = 253;
const ALWAYS = 'Act as you, with your rights, until the session ends';

/** What a scope means to the person who grants it. */
const MEANINGS: Readonly<Record<string, string>> = {
  openid: 'Know who you are',
  profile: 'See your name',
  email: 'See your email address',
  groups: 'See your groups',
};

export function signInPage(view: SignInView): Page {
  const { action, ticket, client, destination, scopes, notice, user, alert } = view;
  return {
    title: titled('Sign in', alert),
    body: html`<h1>Sign in</h1>
${notice}
<p><strong>${client}</strong> asks for access. If you sign in, it can:</p>
<ul>${requested(scopes)}</ul>
<form method="post" action="${action}">
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<label for="username">User name</label>
<input id="username" name="username"${typedText(user, MAX_NAME)} autocomplete="username" autocapitalize="none" spellcheck="false" required${focus(user === '')}${about(alert, 'username')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${focus(user !== '')}${about(alert, 'password')}>
<button type="submit">Sign in</button>
<button type="submit" class="second" name="decision" value="cancel" formnovalidate>Cancel</button>
</form>
${destination === undefined ? undefined : html`<p class="quiet">Afterwards you return to ${destination}.</p>`}`,
  };
}

function requested(scopes: readonly string[]): readonly Markup[] {
  const meanings = scopes.map((scope) => MEANINGS[scope] ?? `Use “${scope}”`);
  return [ALWAYS, ...meanings].map((meaning) => html`<li>${meaning}</li>`);
}

function focus(here: boolean): Markup | undefined {
  return here ? html` autofocus` : undefined;
}
