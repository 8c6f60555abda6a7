import { html, type Markup } from './html.ts';

/** Attributes of a text field: it begins with no more than anybody could have typed into it, whatever was sent. */
export function typedText(value: string, maxlength: number): Markup {
  return html` value="${value.slice(0, maxlength).toWellFormed()}" maxlength="${maxlength}"`;
}
