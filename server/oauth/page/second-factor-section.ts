// The section of the account page about the authenticator app and the recovery codes.
import { date, form, section, time } from './account-sections.ts';
import { html, type Markup } from './html.ts';

export interface ListedFactors {
  /** Ms since the epoch; undefined without an app. */
  readonly appAddedAt: number | undefined;
  /** Number of codes that are left; undefined for a user without a factor, who needs none. */
  readonly recoveryCodes: number | undefined;
}

/** Fewer codes than this are a reason to get new ones. */
const FEW_CODES = 4;

export function secondFactorSection({ appAddedAt, recoveryCodes }: ListedFactors, ticket: string): Markup {
  const button = (action: string, text: string): Markup =>
    html`<button type="submit" name="action" value="${action}">${text}</button>\n`;
  const hasApp = appAddedAt !== undefined;
  return section(
    'second-factor',
    'Authenticator app',
    form(
      '/second-factor',
      ticket,
      html`<p class="muted small">After your password, you enter a code of the app. A change requires a recent sign-in. The first factor signs you out of all other browsers and programs.</p>
${hasApp ? html`<p>An app was added ${time(appAddedAt, date(appAddedAt))}.</p>` : undefined}
${recoveryCodes === undefined ? undefined : codesLeft(recoveryCodes)}
<div class="row">
${button('add', hasApp ? 'Replace the app' : 'Add an app')}${hasApp ? button('remove', 'Remove the app') : undefined}${recoveryCodes === undefined ? undefined : button('codes', 'New recovery codes')}</div>`,
    ),
  );
}

function codesLeft(count: number): Markup {
  const left = `Recovery codes left: ${count}.`;
  return count < FEW_CODES
    ? html`<p class="notice" data-tone="warn">${left} Get new ones, so that you can sign in without your device.</p>`
    : html`<p>${left}</p>`;
}
