// Renders the page on which a person of an identity provider chooses a user name.
import { MAX_USER_NAME } from '../../../apis/iam/v1beta1/custom-resource.ts';
import { ACCOUNT_PATH } from './account-sections.ts';
import { type Alert, alertBox, describedBy, platformHeader, textValue, titled } from './form-fields.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

export interface NameView {
  readonly platformName: string;
  /** Path that the form is posted to. */
  readonly action: string;
  readonly ticket: string;
  /** Display name of the identity provider. */
  readonly provider: string;
  /** The person's account at the provider; empty if unknown. */
  readonly upstreamName: string;
  /** Initial value of the field. */
  readonly name: string;
  readonly alert?: Alert | undefined;
}

export function namePage(view: NameView): Page {
  const { platformName, action, ticket, provider, upstreamName, name, alert } = view;
  const as = upstreamName === '' ? undefined : html` as <strong>${upstreamName}</strong>`;
  return {
    title: titled('Choose your user name', alert),
    body: html`${platformHeader(platformName)}
<h1>Choose your user name</h1>
<p>You have signed in with ${provider}${as} for the first time.</p>
<form method="post" action="${action}">
${alertBox(alert)}
<input type="hidden" name="ticket" value="${ticket}">
<label for="name">User name</label>
<p class="quiet" id="rule">Lower-case letters, digits, “-” and “.”, at most ${MAX_USER_NAME}. Other people can see it, and you cannot change it.</p>
<input id="name" name="name"${textValue(name, MAX_USER_NAME)} autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus${describedBy(alert, 'name', 'rule')}>
<button type="submit">Continue</button>
<button type="submit" class="second" name="decision" value="cancel" formnovalidate>Cancel</button>
</form>
<p class="quiet">Do you have a user here already? Cancel, sign in with it on the <a href="${ACCOUNT_PATH}">account page</a>, and link this account there.</p>`,
  };
}
