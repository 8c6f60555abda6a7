// Generates the Markdown tables of the configuration options from the configuration schema.
import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Markdown table of all options. */
export function configurationTable(): string {
  return table(['option', 'type', 'default', 'meaning'], optionRows().map(rowOf));
}

function rowOf({ path, type, default: initial, description }: OptionRow): string[] {
  return [`\`${path}\``, type, initial === undefined ? 'required' : `\`${initial}\``, description];
}
