// Renders the page on which a person of an identity provider chooses a user name.
import { MAX_USER_NAME } from '../../../apis/iam/v1beta1/custom-resource.ts';
import { ACCOUNT_PATH } from './account-sections.ts';
import { describedBy, textValue } from './form-fields.ts';
import { CANCEL, type FormView, formPage } from './form-page.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

interface NameView extends FormView {
  /** Display name of the identity provider. */
  readonly provider: string;
  /** The person's account at the provider; empty if unknown. */
  readonly upstreamName: string;
  /** Initial value of the field. */
  readonly name: string;
}

export function namePage(view: NameView): Page {
  const { provider, upstreamName, name, alert } = view;
  const as = upstreamName === '' ? undefined : html` as <strong>${upstreamName}</strong>`;
  return formPage(view, {
    title: 'Choose your user name',
    intro: html`<p>You have signed in with ${provider}${as} for the first time.</p>`,
    fields: html`<label for="name">User name</label>
<p class="muted small" id="rule">Lower-case letters, digits, “-” and “.”, at most ${MAX_USER_NAME}. Other people can see it, and you cannot change it.</p>
<input id="name" name="name"${textValue(name, MAX_USER_NAME)} autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus${describedBy(alert, 'name', 'rule')}>
<button type="submit" class="primary">Continue</button>
${CANCEL}`,
    after: html`<p class="muted small">Do you have a user here already? Cancel, sign in with it on the <a href="${ACCOUNT_PATH}">account page</a>, and link this account there.</p>`,
  });
}
