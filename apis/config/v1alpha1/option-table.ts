// Generates the rows of the option tables in the documentation from the schema of the configuration.
import { isRecord, text } from '../../reading/unknown-value.ts';
import { APIServerConfigurationSchema } from './configuration.ts';

/** The row of one option. */
export interface OptionRow {
  /** Such as `listeners.secure.port`. */
  readonly path: string;
  readonly type: string;
  /** In the notation of the file; undefined for a required option. */
  readonly default: string | undefined;
  readonly description: string;
}

/** Returns all options in the order of the schema. */
export function optionRows(): OptionRow[] {
  return [...rowsOf(APIServerConfigurationSchema, '')];
}

function* rowsOf(schema: unknown, prefix: string): Generator<OptionRow> {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return;
  for (const [name, option] of Object.entries(schema['properties'])) {
    if (!isRecord(option)) continue;
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (isRecord(option['properties'])) {
      yield* rowsOf(option, path);
    } else if (isRecord(option['items']) && isRecord(option['items']['properties'])) {
      yield* rowsOf(option['items'], `${path}[]`);
    } else {
      yield {
        path,
        type: typeOf(option),
        default: 'default' in option ? JSON.stringify(option['default']) : undefined,
        description: text(option['description']),
      };
    }
  }
}

function typeOf(option: Record<string, unknown>): string {
  if (typeof option['format'] === 'string') {
    const bounds = [
      ...(typeof option['atLeast'] === 'string' ? [`at least ${option['atLeast']}`] : []),
      ...(typeof option['atMost'] === 'string' ? [`at most ${option['atMost']}`] : []),
    ];
    return [option['format'], ...bounds].join(', ');
  }
  if (Array.isArray(option['enum']))
    return option['enum'].map((choice) => `\`${String(choice)}\``).join(', ');
  if (option['type'] === 'array') return 'strings';
  if (typeof option['minimum'] === 'number' && typeof option['maximum'] === 'number') {
    return `integer, ${option['minimum']} to ${option['maximum']}`;
  }
  return String(option['type']);
}
