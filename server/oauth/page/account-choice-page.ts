// Renders the HTML page on which users who are signed in continue to a client, or choose an account.
import type { Account } from '../users/account.ts';
import { platformHeader } from './form-fields.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { requestedAccess, returnsTo, type SignInView } from './sign-in-pages.ts';

export interface AccountChoiceView
  extends Pick<SignInView, 'action' | 'ticket' | 'client' | 'destination' | 'scopes' | 'notice'> {
  readonly platformName: string;
  /** At least one. */
  readonly accounts: readonly Pick<Account, 'name' | 'displayName'>[];
}

export function accountChoicePage(view: AccountChoiceView): Page {
  const { platformName, action, ticket, client, destination, scopes, notice, accounts } = view;
  const title = accounts.length > 1 ? 'Choose an account' : 'Continue with your account';
  return {
    title,
    body: html`${platformHeader(platformName)}
<h1>${title}</h1>
${notice}
${requestedAccess(client, scopes)}
<form method="post" action="${action}">
<input type="hidden" name="ticket" value="${ticket}">
${accounts.map(accountButton)}
<button type="submit" class="second" name="decision" value="other">Use another account</button>
<button type="submit" class="second" name="decision" value="cancel">Cancel</button>
</form>
${returnsTo(destination)}`,
  };
}

function accountButton({ name, displayName }: AccountChoiceView['accounts'][number]): Markup {
  const shown = displayName === '' || displayName === name ? name : `${displayName} (${name})`;
  return html`<button type="submit" name="account" value="${name}">Continue as ${shown}</button>`;
}
