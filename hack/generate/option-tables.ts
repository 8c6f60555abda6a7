// Generates the Markdown table of the configuration options from the configuration schema.
import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Defaults that the page explains in one sentence. */
const EMPTY = ['""', '[]', '{}'];

/** Markdown table of all options. */
export function configurationTable(): string {
  return table(
    ['option', 'type, default', 'meaning'],
    optionRows()
      .filter(({ path }) => path.includes('.'))
      .map(rowOf),
  );
}

function rowOf({ path, type, default: initial, description }: OptionRow): string[] {
  return [`\`${path}\``, typed(type, initial), description];
}

/** A default of these types shows the type. */
const PLAIN = /^(?:boolean|string|strings|integer.*)$/;

function typed(type: string, initial: string | undefined): string {
  if (initial === undefined) return `${type}, required`;
  if (EMPTY.includes(initial)) return type;
  if (PLAIN.test(type)) return `\`${initial}\``;
  // The default of a choice is bold.
  const chosen = `\`${initial.replaceAll('"', '')}\``;
  return type.startsWith('`') ? type.replace(chosen, `**${chosen}**`) : `${type}: \`${initial}\``;
}
