// Renders the account page: one function for each of its sections.
import { PASSWORD_LENGTH } from '../passwords/password-hasher.ts';
import { PASSWORD_VARIETY } from '../passwords/password-policy.ts';
import type { LinkedIdentity } from '../providers/account-links.ts';
import type { StoredSession } from '../sessions/session.ts';
import type { Account } from '../users/account.ts';
import { ACCOUNT_PATH, ago, date, form, section, time } from './account-sections.ts';
import { type Alert, alertBox, describedBy, noticeBox, platformHeader } from './form-fields.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './page.ts';
import { type PasskeysView, passkeysSection } from './passkey-pages.ts';
import { type ListedFactors, secondFactorSection } from './second-factor-section.ts';
import { shortUserAgent } from './user-agent.ts';

interface AccountView {
  readonly platformName: string;
  readonly account: Account;
  /** Whether the user has signed in with a password of this server. */
  readonly isLocal: boolean;
  /** Display name of the identity provider with which the user has signed in, if it is configured. */
  readonly provider: string | undefined;
  /** CSRF token of every form on the page. */
  readonly ticket: string;
  /** Whether the user has a password of this server. */
  readonly hasPassword: boolean;
  readonly sessions: readonly ListedSession[];
  readonly factors: ListedFactors & PasskeysView;
  readonly identities: readonly LinkedIdentity[];
  /** Identity providers with which the user can link an account. */
  readonly providers: readonly { readonly name: string; readonly displayName: string }[];
  /** Whether kubectl can reach the cluster through this server. */
  readonly hasKubeconfig: boolean;
  /** Confirms the last action. */
  readonly notice: string | undefined;
  /** The problem of the password form, or without `field` of another one. */
  readonly alert?: Alert | undefined;
  /** Ms since the epoch. */
  readonly now: number;
}

export interface ListedSession
  extends Pick<StoredSession, 'id' | 'source' | 'userAgent' | 'createdAt' | 'lastUsedAt'> {
  /** Display name of the client; undefined for a browser. */
  readonly client: string | undefined;
  /** The browser that requests the page. */
  readonly isCurrent: boolean;
}

export function accountPage(view: AccountView): Page {
  const { platformName, notice, alert } = view;
  const general = alert?.field === undefined ? alert : undefined;
  return {
    title: `Your account at ${platformName}`,
    alert,
    wide: true,
    // The start page is the page /explore, if this server has it.
    body: html`${platformHeader(html`<a href="/">${platformName}</a>`)}
<h1>Your account</h1>
${noticeBox(notice)}
${alertBox(general)}
${profileSection(view)}
${sessionsSection(view)}
${passwordSection(view)}
${passkeysSection(view.factors, view)}
${secondFactorSection(view.factors, view.ticket)}
${identitiesSection(view)}
${view.hasKubeconfig ? kubectlSection() : undefined}`,
  };
}

export function signedOutPage(): Page {
  return {
    title: 'Signed out',
    body: html`<h1>Signed out</h1>
<p role="status">This browser is signed out. So are the programs that it signed in to, except those that stay signed in, such as kubectl.</p>
<p><a href="${ACCOUNT_PATH}">Sign in again</a></p>`,
  };
}

function profileSection({ account, isLocal, provider, platformName, ticket }: AccountView): Markup {
  const { name, displayName, email, groups } = account;
  const rows = [
    ['User name', name],
    ['Name', displayName === name ? '' : displayName],
    ['Email', email],
    ['Groups', groups.length === 0 ? 'None' : groups.join(', ')],
    ['Account', isLocal ? `Local account of ${platformName}` : (provider ?? 'Identity provider')],
  ].filter(([, value]) => value !== '');
  const signOut = html`<button type="submit" name="end" value="current">Sign out of this browser</button>`;
  return section(
    'profile',
    'Profile',
    html`<dl>
${rows.map(([term, value]) => html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>
${form('/sessions', ticket, signOut)}
<p class="muted small"><a href="${ACCOUNT_PATH}/switch">Use another account</a></p>`,
  );
}

function passwordSection({ account, hasPassword, ticket, alert }: AccountView): Markup {
  const title = 'Password';
  if (!hasPassword) return section('password-title', title, html`<p>You have no password here.</p>`);
  const problem = alert?.field === undefined ? undefined : alert;
  const input = (name: string, id: string, label: string, attributes: Markup, hint?: Markup): Markup =>
    html`<label for="${id}">${label}</label>
${hint}<input id="${id}" name="${name}" type="password" required${attributes}${problem?.field === name ? html` autofocus` : undefined}${describedBy(problem, name, hint && 'rule')}>`;
  const rule = html`<p class="muted small" id="rule">At least ${PASSWORD_LENGTH.min} characters, ${PASSWORD_VARIETY} of them different. Not your user name.</p>\n`;
  const isNew = html` autocomplete="new-password"`;
  return section(
    'password-title',
    title,
    form(
      '/password',
      ticket,
      html`<p>A new password signs you out of all other browsers and programs.</p>
${alertBox(problem)}
<label for="username">User name</label>
<input id="username" name="username" value="${account.name}" autocomplete="username" readonly>
${input('password', 'password', 'Current password', html` autocomplete="current-password"`)}
${input('new_password', 'new-password', 'New password', html`${isNew} minlength="${PASSWORD_LENGTH.min}"`, rule)}
${input('repeated', 'repeated', 'Repeat new password', isNew)}
<button type="submit" class="primary">Change password</button>`,
    ),
  );
}

function sessionsSection({ sessions, ticket, now }: AccountView): Markup {
  const others = html`<button type="submit" name="end" value="others">Sign out everywhere else</button>`;
  return section(
    'sessions',
    'Where you are signed in',
    form(
      '/sessions',
      ticket,
      html`<ul class="divided">
${sessions.map((session) => sessionItem(session, now))}</ul>
${sessions.some(({ isCurrent }) => !isCurrent) ? others : undefined}`,
    ),
  );
}

function sessionItem(session: ListedSession, now: number): Markup {
  const { id, client = 'A browser', source, userAgent, createdAt, lastUsedAt, isCurrent } = session;
  const name = isCurrent ? 'This browser' : client;
  const place = [shortUserAgent(userAgent), source].filter((part) => part !== '').join(', ');
  const button = html`<button type="submit" name="session" value="${id}" aria-label="Sign out: ${name}, ${place}, last used ${ago(lastUsedAt, now)}">Sign out</button>`;
  return html`<li class="row">
<div><strong>${name}</strong>
<p class="muted small">${place}</p>
<p class="muted small">Signed in ${time(createdAt, date(createdAt))}, last used ${time(lastUsedAt, ago(lastUsedAt, now))}</p></div>
${isCurrent ? undefined : button}
</li>
`;
}

function identitiesSection({ identities, providers, ticket }: AccountView): Markup | undefined {
  if (identities.length === 0 && providers.length === 0) return undefined;
  const none = html`<p>No account of an identity provider is linked to you.</p>`;
  return section(
    'identities',
    'Linked accounts',
    form(
      '/identities',
      ticket,
      html`<p class="muted small">You can sign in with each linked account. A change requires a recent sign-in.</p>
${identities.length === 0 ? none : html`<ul class="divided">\n${identities.map(identityItem)}</ul>`}
<div class="row">
${providers.map(
  ({ name, displayName }) =>
    html`<button type="submit" name="link" value="${name}">Link ${displayName}</button>\n`,
)}</div>`,
    ),
  );
}

function identityItem({ name, provider, displayName, linkedAt }: LinkedIdentity): Markup {
  const since = linkedAt ? html`, linked ${time(linkedAt, date(linkedAt))}` : undefined;
  return html`<li class="row">
<div><strong>${provider}</strong>
<p class="muted small">${displayName === '' ? 'An account' : displayName}${since}</p></div>
<button type="submit" name="unlink" value="${name}" aria-label="Unlink: ${provider}, ${displayName}">Unlink</button>
</li>
`;
}

function kubectlSection(): Markup {
  return section(
    'kubectl',
    'kubectl',
    html`<p>This kubeconfig signs you in with <a href="https://github.com/int128/kubelogin#setup" rel="noreferrer">kubelogin</a> 1.29 or later. It contains no secret.</p>
<p><a class="button primary" href="${ACCOUNT_PATH}/kubeconfig" download>Download kubeconfig</a></p>
<p class="muted small">Then run: <code>kubectl --kubeconfig kubeconfig.yaml get pods</code></p>`,
  );
}
