import { type OptionRow, optionRows } from '../../apis/config/v1alpha1/option-table.ts';
import { table } from './markdown-table.ts';

/** Every option of the configuration file, as a Markdown table. */
export function configurationTable(): string {
  return table(['option', 'type', 'default', 'meaning'], optionRows().map(rowOf));
}

/** Parts of the configuration that bound something: what a client may send, take, or make the server keep. */
const LIMITING = [
  'listeners.limits.',
  'requests.',
  'cache.',
  'watch.',
  'shutdown.',
  'oauth.sessionsPerUser',
  'oauth.verifiedTokens',
  'oauth.passwords.',
  'oauth.throttle.',
  'logging.limits.',
  'logging.kubernetes.',
];

/** Every bound that can be set, as a Markdown table. */
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
