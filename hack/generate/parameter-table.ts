import { CACHE_BUSTERS } from '../../apis/meta/v1/query-decoder.ts';
import { NodeQuerySchema } from '../../apis/resources/v1alpha3/node-query.ts';
import { table } from './markdown-table.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The parameters of the platform's node list, as a Markdown table, out of the schema that checks them. */
export function nodeQueryTable(): string {
  const rows = Object.entries(NodeQuerySchema.properties).map(([name, property]) => {
    const schema: Schema = { ...property };
    const { default: initial, description } = schema;
    return [
      `\`${name}\``,
      valueOf(schema),
      initial === undefined ? '' : `\`${typeof initial === 'string' ? initial : JSON.stringify(initial)}\``,
      String(description),
    ];
  });
  const ignored = CACHE_BUSTERS.map((name) => `\`${name}\``).join(', ');
  return table(
    ['parameter', 'value', 'default', 'meaning'],
    [...rows, [ignored, 'anything', '', 'Ignored: consoles append them so that no cache answers.']],
  );
}

function valueOf(schema: Schema): string {
  const { type, enum: words, items, format, minimum } = schema;
  if (Array.isArray(words)) return words.map((word) => `\`${String(word)}\``).join(', ');
  if (type === 'array') {
    const item = valueOf(isSchema(items) ? items : {});
    return item === 'text' ? 'texts, separated by commas' : `some of ${item}, separated by commas`;
  }
  if (type === 'integer') return `whole number, at least ${String(minimum)}`;
  if (type === 'boolean') return '`true` or `false`, also `1`, `0`, `t`, `f`';
  return format === undefined ? 'text' : 'selector';
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
