import { html, type Markup } from './html.ts';

/** Why a page is shown again. `field` is the input that it is about; none when it is about the whole form. */
export interface Alert {
  readonly text: string;
  readonly field?: string;
}

const ID = 'alert';

/** Read out by screen readers when the page appears; the input in question points to it. */
export function alertBox(alert: Alert | undefined): Markup | undefined {
  return alert && html`<p class="alert" id="${ID}" role="alert">${alert.text}</p>`;
}

/** Attributes of the input called `name`; `rule`: id of what is said of it in any case. */
export function about(alert: Alert | undefined, name: string, rule?: string): Markup | undefined {
  const isWrong = alert?.field === name;
  const described = [...(isWrong ? [ID] : []), ...(rule === undefined ? [] : [rule])];
  if (described.length === 0) return undefined;
  const invalid = isWrong ? html` aria-invalid="true"` : undefined;
  return html`${invalid} aria-describedby="${described.join(' ')}"`;
}

/** The title of the browser's tab begins with the fault. */
export function titled(title: string, alert: Alert | undefined): string {
  return alert ? `Error: ${title}` : title;
}
