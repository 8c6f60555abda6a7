// Generates the Markdown table of the configuration options from the configuration schema.
import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Defaults that the page explains in one sentence. */
const EMPTY = ['""', '[]', '{}'];

/** Markdown table of all options. */
export function configurationTable(): string {
  return table(['option', 'type and default', 'meaning'], optionRows().map(rowOf));
}

function rowOf({ path, type, default: initial, description }: OptionRow): string[] {
  return [`\`${path}\``, typed(type, initial), description];
}

function typed(type: string, initial: string | undefined): string {
  if (initial === undefined) return `${type}, required`;
  return EMPTY.includes(initial) ? type : `${type}: \`${initial}\``;
}
