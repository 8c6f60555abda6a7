// Renders the passkeys of a user: their section of the account page, and the page that adds one.
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { MAX_PASSKEY_NAME, type Passkey } from '../../../apis/iam/v1beta1/authenticators-resource.ts';
import { ago, date, form, section, time } from './account-sections.ts';
import { describedBy, textValue } from './form-fields.ts';
import { CANCEL, type FormView, formPage } from './form-page.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { passkeyButton } from './passkey-form.ts';

type ListedPasskey = Pick<Passkey, 'id' | 'name' | 'backedUp'> & {
  /** Ms since the epoch. */
  readonly addedAt: number;
  readonly lastUsedAt: number | undefined;
};

export interface PasskeysView {
  readonly passkeys: readonly ListedPasskey[];
  /** Why the user cannot add a passkey. */
  readonly passkeyProblem: string | undefined;
}

export function passkeysSection(
  { passkeys, passkeyProblem }: PasskeysView,
  { ticket, now }: { readonly ticket: string; readonly now: number },
): Markup {
  const add = html`<button type="submit" name="add" value="passkey">Add a passkey</button>`;
  return section(
    'passkeys',
    'Passkeys',
    html`<p class="muted small">With a passkey you sign in without a password: you unlock your device or security key. A change requires a recent sign-in.</p>
${passkeys.length === 0 ? undefined : html`<ul class="divided">\n${passkeys.map((passkey, index) => passkeyItem(passkey, `name-${index}`, { ticket, now }))}</ul>`}
${passkeyProblem === undefined ? form('/passkeys', ticket, add) : html`<p>${passkeyProblem}</p>`}`,
  );
}

function passkeyItem(
  { id, name, backedUp, addedAt, lastUsedAt }: ListedPasskey,
  fieldID: string,
  { ticket, now }: { readonly ticket: string; readonly now: number },
): Markup {
  const used =
    lastUsedAt === undefined ? html`not used yet` : html`last used ${time(lastUsedAt, ago(lastUsedAt, now))}`;
  const rename = html`<label for="${fieldID}">New name</label>
<input id="${fieldID}" name="name"${textValue(name, MAX_PASSKEY_NAME)} autocomplete="off" required>
<button type="submit" name="rename" value="${id}" aria-label="Save the new name of ${name}">Save</button>`;
  const remove = html`<button type="submit" name="remove" value="${id}" aria-label="Remove: ${name}">Remove</button>`;
  return html`<li class="row">
<div><strong>${name}</strong>
<p class="muted small">${backedUp ? 'Synced between devices' : 'On one device'}</p>
<p class="muted small">Added ${time(addedAt, date(addedAt))}, ${used}</p>
<details><summary aria-label="Rename: ${name}">Rename</summary>
${form('/passkeys', ticket, rename)}</details></div>
${form('/passkeys', ticket, remove)}
</li>
`;
}

interface NewPasskeyView extends FormView {
  readonly options: PublicKeyCredentialCreationOptionsJSON;
  /** Initial value of the name field. */
  readonly name: string;
  /** Whether the user cannot sign in without a second factor, and can add an app instead. */
  readonly isRequired: boolean;
}

const APP_INSTEAD = html`<button type="submit" name="method" value="app" formnovalidate>Add an authenticator app instead</button>
`;

export function newPasskeyPage(view: NewPasskeyView): Page {
  const { options, name, isRequired, alert } = view;
  return formPage(view, {
    title: 'Add a passkey',
    intro: html`${isRequired ? html`<p>Your account needs a second factor.</p>` : undefined}
<p>Your browser asks where to store it: on this device, in a password manager, on a phone or on a security key.</p>`,
    passkey: options,
    fields: html`<label for="name">Name of the passkey</label>
<input id="name" name="name"${textValue(name, MAX_PASSKEY_NAME)} autocomplete="off" required autofocus${describedBy(alert, 'name')}>
<p data-unsupported>This browser cannot create a passkey: it needs scripts, and a current version.</p>
${passkeyButton('Create the passkey', true)}${isRequired ? APP_INSTEAD : undefined}${CANCEL}`,
  });
}
