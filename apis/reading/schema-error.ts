// Describes Ajv errors in words: the path of the invalid value, and the accepted values. It is the only translator, for
// the configuration, request bodies, queries and OAuth parameters.
import type { ErrorObject } from 'ajv/dist/2020.js';
import { type Formats, formatError } from './schema-validator.ts';
import { suggestion } from './suggestion.ts';
import { isRecord } from './unknown-value.ts';

export interface SchemaError {
  /** Names and indices, from the root of the validated value. */
  readonly path: readonly string[];
  /** `unsupported`: the value is none of an enumeration. */
  readonly problem: 'unknown' | 'missing' | 'unsupported' | 'invalid';
  /** Completes a sentence whose subject is the path. */
  readonly message: string;
}

export interface Wording {
  /** Message of an unknown name, such as `unknown parameter`. */
  readonly unknown: string;
  /** Known names by their names in other systems. They are suggested for such a name. */
  readonly otherNames?: Readonly<Record<string, string>>;
  /** Message of a missing value; default `is missing`. */
  readonly missing?: string;
  /** Whether messages quote invalid values. Values with `writeOnly` in their schema are never quoted. */
  readonly quotesValues: boolean;
  readonly formats?: Formats;
  /** Accepted values by their names in other systems, for each name. They are suggested for such a value. */
  readonly otherValues?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Schema = Readonly<Record<string, unknown>>;

export function describeError(error: ErrorObject, wording: Wording): SchemaError {
  const path = pathOf(error);
  const schema: Schema = isRecord(error.parentSchema) ? error.parentSchema : {};
  const properties: Schema = isRecord(schema['properties']) ? schema['properties'] : {};
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params['additionalProperty']);
    const hint = acceptedNames(name, Object.keys(properties), wording.otherNames);
    return { path: [...path, name], problem: 'unknown', message: `${wording.unknown}${hint}` };
  }
  if (error.keyword === 'required') {
    const name = String(error.params['missingProperty']);
    const member = properties[name];
    const wanted = isRecord(member) ? (expected(member) ?? choicesOf(member)) : undefined;
    const hint = wanted === undefined ? '' : `; must be ${wanted}`;
    return {
      path: [...path, name],
      problem: 'missing',
      message: `${wording.missing ?? 'is missing'}${hint}`,
    };
  }
  const isShown = wording.quotesValues && schema['writeOnly'] !== true;
  const value = isShown ? `, not ${quoted(error.data)}` : '';
  const choices = choicesOf(schema);
  if (choices !== undefined && (error.keyword === 'enum' || error.keyword === 'const')) {
    const meant = isShown ? meantChoice(error, path, wording) : undefined;
    const hint = meant === undefined ? '' : `; did you mean ${quoted(meant)}?`;
    return { path, problem: 'unsupported', message: `must be ${choices}${value}${hint}` };
  }
  const format = error.keyword === 'format' ? wording.formats?.[String(error.params['format'])] : undefined;
  if (format) {
    const reason = isShown ? `: ${formatError(format, String(error.data)) ?? ''}` : '';
    return { path, problem: 'invalid', message: `must be ${format.noun}${value}${reason}` };
  }
  return { path, problem: 'invalid', message: `must be ${wanted(error, schema)}${value}` };
}

/** The path of the value. An unknown or missing member is no part of it. */
export function pathOf({ instancePath }: ErrorObject): string[] {
  // RFC 6901.
  const segments = instancePath.split('/').slice(1);
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A path in the notation of Kubernetes, for instance `spec.groups[0]`. */
export function fieldPath(path: readonly string[]): string {
  return path.reduce((field, segment) => {
    if (/^\d+$/.test(segment)) return `${field}[${segment}]`;
    return field === '' ? segment : `${field}.${segment}`;
  }, '');
}

function expected({ expects }: Schema): string | undefined {
  return typeof expects === 'string' ? expects : undefined;
}

function choicesOf(schema: Schema): string | undefined {
  if ('const' in schema) return String(schema['const']);
  if (!Array.isArray(schema['enum'])) return undefined;
  const choices = schema['enum'].map(String);
  return choices.length === 1 ? choices[0] : `one of ${choices.join(', ')}`;
}

function meantChoice(error: ErrorObject, [name = '']: readonly string[], wording: Wording) {
  const choices: unknown = error.params['allowedValues'];
  if (!Array.isArray(choices) || choices.length === 1) return undefined;
  return meantName(shortened(String(error.data)), choices.map(String), wording.otherValues?.[name]);
}

function wanted(error: ErrorObject, schema: Schema): string {
  const limit = String(error.params['limit']);
  switch (error.keyword) {
    case 'minimum':
    case 'maximum':
    case 'type':
    case 'format':
    case 'pattern':
      return expected(schema) ?? choicesOf(schema) ?? typeName(schema);
    case 'minLength':
      return 'non-empty text';
    case 'maxLength':
      return `at most ${limit} characters long`;
    case 'minItems':
      return 'a list with at least one value';
    case 'maxItems':
      return `a list of at most ${limit} values`;
    case 'uniqueItems':
      return 'a list without duplicates';
    case 'atLeast':
      return `at least ${String(schema['atLeast'])}`;
    case 'atMost':
      return `at most ${String(schema['atMost'])}`;
    default:
      return `valid (${error.message ?? error.keyword})`;
  }
}

function typeName(schema: Schema): string {
  const { type } = schema;
  switch (type) {
    case 'object':
      return 'an object';
    case 'array':
      return 'a list';
    case 'integer':
      return typeof schema['minimum'] === 'number'
        ? `a whole number from ${schema['minimum']} to ${String(schema['maximum'])}`
        : 'a whole number';
    case 'boolean':
      return 'true or false';
    case 'string':
      return 'pattern' in schema ? `text like ${String(schema['pattern'])}` : 'text';
    default:
      return String(type);
  }
}

/** Maximum length of an offending value in an error. */
const MAX_QUOTED = 100;

/** Truncates an offending value. */
export function shortened(given: string): string {
  return given.slice(0, MAX_QUOTED);
}

/** Quotes and truncates an offending value. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.length > MAX_QUOTED ? `${shortened(text)}…` : text;
  return typeof value === 'string' ? JSON.stringify(shown) : shown;
}

/**
 * Returns a text with a suggestion and the accepted names. `otherNames`: accepted names by their lower-case names in
 * other systems.
 */
export function acceptedNames(
  mistyped: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, string>> = {},
): string {
  const meant = meantName(shortened(mistyped), known, otherNames);
  const guess = meant === undefined ? '' : `, did you mean ${quoted(meant)}?`;
  return `${guess} (allowed: ${known.length === 0 ? 'none' : known.join(', ')})`;
}

function meantName(
  mistyped: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, string>> = {},
): string | undefined {
  const other = mistyped.toLowerCase();
  return Object.hasOwn(otherNames, other) ? otherNames[other] : suggestion(mistyped, known);
}
