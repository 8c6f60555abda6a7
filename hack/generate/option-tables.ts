// Generates the Markdown tables of the configuration options from the configuration schema.
import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Sections of the configuration whose options have a page of their own. */
const OWN_PAGES = ['oauth', 'logging'] as const;

/** Markdown table of the options of one section with a page of its own. */
export function sectionTable(section: (typeof OWN_PAGES)[number]): string {
  return optionTable((path) => path.startsWith(`${section}.`));
}

/** Markdown table of all other options. */
export function configurationTable(): string {
  return optionTable((path) => !OWN_PAGES.some((section) => path.startsWith(`${section}.`)));
}

function optionTable(selects: (path: string) => boolean): string {
  const rows = optionRows().filter(({ path }) => selects(path));
  return table(['option', 'type', 'default', 'meaning'], rows.map(rowOf));
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
