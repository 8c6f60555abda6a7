// Converts Ajv errors to messages for the operator. Each message contains the invalid value and the accepted values.
import type { ErrorObject } from 'ajv';
import { segmentsOf } from '../../reading/json-pointer.ts';
import { suggestion } from '../../reading/suggestion.ts';
import { isRecord } from '../../reading/unknown-value.ts';

export interface ErrorDescription {
  readonly path: readonly string[];
  readonly which: 'key' | 'value';
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;

const QUANTITY = 'a number of bytes such as 4096, 256Ki or 3Mi';
const ORIGIN = 'an origin in the form that browsers send, such as https://console.example.com';

export function describeError(error: ErrorObject): ErrorDescription {
  const path = segmentsOf(error.instancePath);
  const schema: Schema = isRecord(error.parentSchema) ? error.parentSchema : {};
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params['additionalProperty']);
    const known = isRecord(schema['properties']) ? Object.keys(schema['properties']) : [];
    const meant = suggestion(name, known);
    const hint = meant === undefined ? `known options: ${known.join(', ')}` : `did you mean "${meant}"?`;
    return { path: [...path, name], which: 'key', message: `unknown option; ${hint}` };
  }
  if (error.keyword === 'required') {
    const name = String(error.params['missingProperty']);
    const member = isRecord(schema['properties']) ? schema['properties'][name] : undefined;
    return { path: [...path, name], which: 'key', message: `is missing${expectation(member)}` };
  }
  // The message never quotes a value that may be a secret.
  const given = schema['writeOnly'] === true ? '' : `, not ${JSON.stringify(error.data)}`;
  return { path, which: 'value', message: `must be ${wanted(error, schema)}${given}` };
}

function expectation(member: unknown): string {
  if (!isRecord(member)) return '';
  const choices: readonly unknown[] = Array.isArray(member['enum']) ? member['enum'] : [];
  const wanted: unknown = member['expects'] ?? (choices.length > 0 ? choices.join(' or ') : undefined);
  return typeof wanted === 'string' ? `; must be ${wanted}` : '';
}

function wanted(error: ErrorObject, schema: Schema): string {
  switch (error.keyword) {
    case 'type':
    case 'format':
      if (schema['format'] === 'duration') return 'a duration such as 500ms, 10s or 1h30m';
      if (schema['format'] === 'period') return 'a period such as 90m, 2h or 30d';
      if (schema['format'] === 'quantity') return QUANTITY;
      if (error.keyword === 'format' && schema['format'] === 'origin') return ORIGIN;
      return nameOfType(schema['type']);
    case 'enum': {
      const choices = Array.isArray(schema['enum']) ? schema['enum'].map(String) : [];
      const meant = choices.length > 1 ? suggestion(String(error.data), choices) : undefined;
      return `${choices.length === 1 ? '' : 'one of '}${choices.join(', ')}${meant === undefined ? '' : ` (${meant}?)`}`;
    }
    case 'pattern':
      return typeof schema['expects'] === 'string'
        ? schema['expects']
        : `text like ${String(schema['pattern'])}`;
    case 'minimum':
    case 'maximum':
      if (schema['format'] === 'quantity') return QUANTITY;
      return `from ${String(schema['minimum'])} to ${String(schema['maximum'])}`;
    case 'atLeast':
      return `at least ${String(schema['atLeast'])}`;
    case 'atMost':
      return `at most ${String(schema['atMost'])}`;
    case 'uniqueItems':
      return 'a list without duplicates';
    case 'minLength':
      return 'non-empty text';
    default:
      return `valid (${error.message ?? error.keyword})`;
  }
}

function nameOfType(type: unknown): string {
  switch (type) {
    case 'object':
      return 'a section with options';
    case 'array':
      return 'a list';
    case 'integer':
      return 'a whole number';
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'text';
    default:
      return String(type);
  }
}
