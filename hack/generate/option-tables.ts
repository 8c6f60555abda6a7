// Generates the Markdown table of the configuration options from the configuration schema.
import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Markdown table of all options. */
export function configurationTable(): string {
  const options = optionRows().filter(({ path }) => path.includes('.'));
  return table(['option, default', 'meaning'], options.map(rowOf));
}

/** The default in the notation of the file, which shows the type. Empty texts are not shown. */
function rowOf({ path, type, default: initial, description }: OptionRow): string[] {
  const shown = initial === undefined || initial === '""' ? '' : `: ${initial}`;
  return [`\`${path}${shown}\``, [...choicesOf(type), description, ...boundsOf(type, initial)].join(' ')];
}

function choicesOf(type: string): string[] {
  return type.startsWith('`') ? [`${type}.`] : [];
}

function boundsOf(type: string, initial: string | undefined): string[] {
  if (initial === undefined) return ['Required.'];
  const [, bounds] = /^(?:duration|period), (.*)$/.exec(type) ?? [];
  return bounds === undefined ? [] : [`${bounds[0]?.toUpperCase()}${bounds.slice(1)}.`];
}
