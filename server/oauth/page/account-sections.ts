// Fragments of the sections of the account page.
import { html, type Markup } from './html.ts';

export const ACCOUNT_PATH = '/account';

export function section(id: string, title: string, content: Markup): Markup {
  return html`<section class="card stack" aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>`;
}

/** `action`: path below that of the account page. */
export function form(action: string, ticket: string, content: Markup): Markup {
  return html`<form method="post" action="${ACCOUNT_PATH}${action}">
<input type="hidden" name="ticket" value="${ticket}">
${content}
</form>`;
}

export function time(at: number, text: string): Markup {
  return html`<time datetime="${new Date(at).toISOString()}">${text}</time>`;
}

/** To the minute. */
export function date(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

export function ago(at: number, now: number): string {
  const [unit, ms] = UNITS.find(([, each]) => now - at >= each) ?? [];
  if (unit === undefined || ms === undefined) return 'just now';
  const count = Math.floor((now - at) / ms);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}
