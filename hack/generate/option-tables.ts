// Generates the Markdown tables of the configuration options from the configuration schema.
import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Markdown table of all options. */
export function configurationTable(): string {
  return table(['option', 'type', 'default', 'meaning'], optionRows().map(rowOf));
}

/** Sections of the configuration that limit the resources of clients. */
const LIMITING = ['listeners.limits.', 'requests.', 'resources.memoryBudget', 'shutdown.', 'oauth.throttle.'];

/** Markdown table of all configurable limits. */
export function limitsTable(): string {
  const bounds = optionRows().filter(({ path }) => LIMITING.some((prefix) => path.startsWith(prefix)));
  return table(
    ['option', 'default', 'meaning'],
    bounds.map((row) => rowOf(row).filter((_, column) => column !== 1)),
  );
}

function rowOf({ path, type, default: initial, description }: OptionRow): string[] {
  return [`\`${path}\``, type, initial === undefined ? 'required' : `\`${initial}\``, description];
}
