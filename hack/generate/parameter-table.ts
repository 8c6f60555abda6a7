// Generates Markdown tables of query parameters from the schemas that validate the query parameters.
import { LogQuerySchema } from '../../apis/logging/v1alpha2/log-query.ts';
import { CACHE_BUSTERS } from '../../apis/meta/v1/query-decoder.ts';
import { isRecord } from '../../apis/reading/unknown-value.ts';
import { AnyKindQuerySchema } from '../../apis/resources/v1alpha3/resource-query.ts';
import { SearchQuerySchema } from '../../apis/resources/v1alpha3/search-query.ts';
import { table } from './markdown-table.ts';

/** From this value on, a maximum in a schema is only the range of the number type, and the table omits it. */
const FAR = 2 ** 31 - 1;

const WORDS: Readonly<Record<string, string>> = {
  'label-selector': 'selector',
  'field-selector': 'selector',
  'log-interval': 'interval',
  'time-zone': 'time zone',
};

type Schema = Readonly<Record<string, unknown>>;

/** Markdown table of the parameters of platform lists. */
export function resourceQueryTable(): string {
  return parameterTable(AnyKindQuerySchema.properties);
}

/** Markdown table of the parameters of the search over kinds. */
export function searchQueryTable(): string {
  return parameterTable(SearchQuerySchema.properties);
}

/** Markdown table of the parameters of log queries. */
export function logQueryTable(): string {
  return parameterTable(LogQuerySchema.properties);
}

/** Table of the schema that validates the parameters. */
function parameterTable(properties: Readonly<Record<string, object>>): string {
  const rows = Object.entries(properties).map(([name, property]) => {
    const schema: Schema = { ...property };
    const { default: initial, description } = schema;
    const text = typeof initial === 'string' ? initial : JSON.stringify(initial);
    const value = initial === undefined ? valueOf(schema) : `${valueOf(schema)}; default \`${text}\``;
    return [`\`${name}\``, value, String(description)];
  });
  const ignored = CACHE_BUSTERS.map((name) => `\`${name}\``).join(', ');
  return table(
    ['parameter', 'value', 'meaning'],
    [...rows, [ignored, 'anything', 'Ignored: consoles append them to bypass caches.']],
  );
}

function valueOf(schema: Schema): string {
  const { type, enum: words, items, format, minimum, maximum } = schema;
  if (Array.isArray(words)) return words.map((word) => `\`${String(word)}\``).join(', ');
  if (type === 'array') {
    const item = valueOf(isRecord(items) ? items : {});
    return item === 'text' ? 'list' : `list of ${item}`;
  }
  if (type === 'integer') {
    const bound = typeof maximum === 'number' && maximum < FAR ? ` to ${maximum}` : '';
    return bound === '' ? `integer ≥ ${String(minimum)}` : `integer, ${String(minimum)}${bound}`;
  }
  if (type === 'boolean') return 'boolean';
  return WORDS[String(format)] ?? 'text';
}
