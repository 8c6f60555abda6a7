// Renders the HTML page on which users who are signed in continue to a client, or choose an account.
import type { Account } from '../users/account.ts';
import { CANCEL, type FormView, formPage } from './form-page.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { requestedAccess, returnsTo, type SignInView } from './sign-in-pages.ts';

interface AccountChoiceView
  extends FormView,
    Pick<SignInView, 'client' | 'destination' | 'scopes' | 'notice'> {
  /** At least one. */
  readonly accounts: readonly Pick<Account, 'name' | 'displayName'>[];
}

export function accountChoicePage(view: AccountChoiceView): Page {
  const { client, destination, scopes, notice, accounts } = view;
  return formPage(view, {
    title: accounts.length > 1 ? 'Choose an account' : 'Continue with your account',
    intro: html`${notice}
${requestedAccess(client, scopes)}`,
    fields: html`${accounts.map(accountButton)}
<button type="submit" name="decision" value="other">Use another account</button>
${CANCEL}`,
    after: returnsTo(destination),
  });
}

function accountButton({ name, displayName }: AccountChoiceView['accounts'][number]): Markup {
  // Characters of a display name can change the direction of text.
  const shown = displayName === '' || displayName === name ? name : html`<bdi>${displayName}</bdi> (${name})`;
  return html`<button type="submit" class="primary" name="account" value="${name}">Continue as ${shown}</button>`;
}
