// Renders HTML fragments that all forms share, such as the platform name and the error message.
import { html, type Markup } from './html.ts';

/** Name of the platform above the heading, so that users see where they type their password. */
export function platformHeader(platformName: string | Markup): Markup {
  return html`<p class="platform">${platformName}</p>`;
}

/** Reason why a form is shown again. `field`: the input with the invalid value; undefined for the whole form. */
export interface Alert {
  readonly text: string;
  readonly field?: string;
}

const ID = 'alert';

/** What has just been done. */
export function noticeBox(notice: string | undefined): Markup | undefined {
  return notice === undefined
    ? undefined
    : html`<p class="notice" data-tone="good" role="status">${notice}</p>`;
}

/** Box with the text of the alert. Screen readers announce it when the page opens. */
export function alertBox(alert: Alert | undefined): Markup | undefined {
  return alert && html`<p class="notice" data-tone="bad" id="${ID}" role="alert">${alert.text}</p>`;
}

/** Attributes that connect the input `name` with its alert. `hint`: id of a permanent description of the input. */
export function describedBy(alert: Alert | undefined, name: string, hint?: string): Markup | undefined {
  const isInvalid = alert?.field === name;
  const ids = [...(isInvalid ? [ID] : []), ...(hint === undefined ? [] : [hint])];
  if (ids.length === 0) return undefined;
  const invalid = isInvalid ? html` aria-invalid="true"` : undefined;
  return html`${invalid} aria-describedby="${ids.join(' ')}"`;
}

/** Attributes of a text field. The initial value comes from the request, so it is truncated to `maxlength`. */
export function textValue(value: string, maxlength: number): Markup {
  return html` value="${value.slice(0, maxlength).toWellFormed()}" maxlength="${maxlength}"`;
}
